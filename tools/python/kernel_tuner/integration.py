"""Files of results: none are written, since nothing was measured."""
from .inert import Inert


class TuneResults(Inert):
    pass


def store_results(*_, **__):
    """Writes nothing."""


def create_device_targets(*_, **__):
    """Writes nothing."""
