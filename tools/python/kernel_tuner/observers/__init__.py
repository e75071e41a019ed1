"""Observers measure; here there is nothing to measure."""
from ..inert import Inert
from ..inert import attribute as __getattr__  # noqa: F401


class BenchmarkObserver(Inert):
    pass


class IterationObserver(BenchmarkObserver):
    pass


class ContinuousObserver(BenchmarkObserver):
    pass


class OutputObserver(BenchmarkObserver):
    pass


class PrologueObserver(BenchmarkObserver):
    pass
