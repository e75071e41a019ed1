"""A stand-in for the package kernel_tuner: scripts that tune with it run, nothing is tuned, and what they ask for is written down.

`tools/python/import_script.py` runs a script with this in place of the real package. It needs neither a GPU nor NumPy.
"""
from . import inert

inert.install()

from .integration import create_device_targets, store_results  # noqa: E402
from .interface import run_kernel, tune_cache, tune_kernel, tune_kernel_T1  # noqa: E402

__version__ = "1.5.0"  # the release whose interface this follows
__all__ = ["create_device_targets", "run_kernel", "store_results", "tune_cache", "tune_kernel", "tune_kernel_T1", "__version__"]
