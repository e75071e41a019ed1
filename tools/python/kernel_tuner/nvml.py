"""Where older releases of Kernel Tuner have the observer of NVML."""
from .observers.nvml import NVMLObserver, get_idle_power, get_nvml_gr_clocks, get_nvml_mem_clocks, get_nvml_pwr_limits  # noqa: F401
