"""Helpers that scripts use on results."""
import json
import time

from .inert import attribute as __getattr__  # noqa: F401

default_block_size_names = ["block_size_x", "block_size_y", "block_size_z"]


class ErrorConfig(str):
    """A result that is none. Nothing fails here, so that none is ever seen."""


class InvalidConfig(ErrorConfig):
    pass


class CompilationFailedConfig(ErrorConfig):
    pass


class RuntimeFailedConfig(ErrorConfig):
    pass


class StopCriterionReached(Exception):
    pass


class SkippableFailure(Exception):
    pass


class NpEncoder(json.JSONEncoder):
    """Writes numbers and arrays of NumPy's."""

    def default(self, value):
        return value.tolist() if hasattr(value, "tolist") else super().default(value)


class Timer:
    def __init__(self):
        self.started = time.perf_counter()

    def get(self):
        return time.perf_counter() - self.started


def get_best_config(results, objective="time", objective_higher_is_better=False):
    return (max if objective_higher_is_better else min)(results, key=lambda one: one.get(objective, 0))


def get_config_string(params, keys=None, units=None):
    units = units or {}
    return ", ".join(f"{name}={value}{units.get(name, '') if isinstance(units.get(name, ''), str) else ''}" for name, value in params.items() if keys is None or name in keys)


def get_instance_string(params):
    return "_".join(str(value) for value in params.values())


def read_file(filename):
    with open(filename, encoding="utf-8") as file:
        return file.read()


def write_file(filename, string):
    with open(filename, "w", encoding="utf-8") as file:
        file.write(string)
