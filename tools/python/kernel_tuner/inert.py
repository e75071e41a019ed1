"""Parts of Kernel Tuner that measure or store: they can be imported, called and derived from, and do nothing."""
import importlib.abc
import importlib.machinery
import sys
import types


class Inert:
    """Takes any arguments and has any method; every method does nothing."""

    def __init__(self, *arguments, **keywords):
        pass

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return nothing


def nothing(*_, **__):
    """Does nothing."""


def attribute(name):
    """What a module that is not there has under a name: a class for names in capitals, a function for others."""
    if name.startswith("__"):
        raise AttributeError(name)
    return type(name, (Inert,), {}) if name[0].isupper() else nothing


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules of Kernel Tuner that have no file here."""

    def find_spec(self, name, path=None, target=None):
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if name.startswith("kernel_tuner.") and ".capture" not in name else None

    def create_module(self, spec):
        module = types.ModuleType(spec.name)
        module.__getattr__ = attribute
        module.__path__ = []
        return module

    def exec_module(self, module):
        pass


def install():
    if not any(isinstance(finder, Finder) for finder in sys.meta_path):
        sys.meta_path.append(Finder())
