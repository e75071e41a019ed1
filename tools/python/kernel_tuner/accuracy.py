"""Arguments whose contents depend on the configuration."""
from collections import UserDict

from .inert import attribute as __getattr__  # noqa: F401


class Tunable(UserDict):
    def __init__(self, param_key, arrays):
        super().__init__(dict(enumerate(arrays)) if isinstance(arrays, (list, tuple)) else arrays)
        self.param_key = param_key

    def select_for_configuration(self, params):
        key = self.param_key(params) if callable(self.param_key) else params[self.param_key]
        chosen = self.data[key]
        return chosen.select_for_configuration(params) if isinstance(chosen, Tunable) else chosen

    __call__ = select_for_configuration


class TunablePrecision(Tunable):
    """One array in several types."""

    NAMES = {"half": "float16", "float16": "float16", "float": "float32", "float32": "float32", "double": "float64", "float64": "float64"}

    def __init__(self, param_key, array, dtypes=None):
        self.array, self.dtypes = array, dtypes
        super().__init__(param_key, {})

    def select_for_configuration(self, params):
        key = self.param_key(params) if callable(self.param_key) else params[self.param_key]
        return self.array.astype((self.dtypes or {}).get(key) or self.NAMES.get(str(key), self.array.dtype))

    __call__ = select_for_configuration
