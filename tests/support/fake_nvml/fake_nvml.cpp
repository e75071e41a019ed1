// A libnvidia-ml.so.1 for tests. The environment says what it answers: ATTUNE_FAKE_NVML is a JSON object with "uuid",
// "sm_clock_mhz", "reasons", "power_limit_mw", "temperature_c", "power_w" and "failing" (names of functions that return an error);
// ATTUNE_FAKE_NVML_LOG names a file that gets one line a call. Built in three folders: whole, without what newer
// drivers renamed (FAKE_NVML_FORMER), and without what tells devices apart (FAKE_NVML_BARE).
#include "tests/support/fake_nvml/answers.hpp"

using namespace attune::fake_nvml;

extern "C" {
int nvmlInit_v2() { return fails("nvmlInit_v2") ? kNotSupported : kSuccess; }
int nvmlShutdown() { return fails("nvmlShutdown") ? kNotSupported : kSuccess; }
#ifndef FAKE_NVML_BARE
int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  if (fails("nvmlDeviceGetHandleByUUID")) return kNotSupported;
  static int the_device = 0;
  *device = &the_device;
  return is_device(uuid) ? kSuccess : kNotFound;
}
#endif
int nvmlDeviceGetClockInfo(void*, int clock, unsigned* mhz) {
  return clock == 1 ? answer("nvmlDeviceGetClockInfo", "sm_clock_mhz", mhz) : kNotSupported;
}
#ifdef FAKE_NVML_FORMER
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  return answer("nvmlDeviceGetCurrentClocksThrottleReasons", "reasons", reasons);
}
#else
int nvmlDeviceGetCurrentClocksEventReasons(void*, unsigned long long* reasons) {
  return answer("nvmlDeviceGetCurrentClocksEventReasons", "reasons", reasons);
}
int nvmlDeviceGetTemperature(void*, int sensor, unsigned* celsius) {
  return sensor == 0 ? answer("nvmlDeviceGetTemperature", "temperature_c", celsius) : kNotSupported;
}
#endif
#ifdef FAKE_NVML_WHOLE
/// Counts on every 20 ms of real time, by "power_w" watts.
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) {
  unsigned watts = 0;
  const int result = answer("nvmlDeviceGetTotalEnergyConsumption", "power_w", &watts);
  if (result == kSuccess) *millijoules = 20ULL * watts * counts_of_20_ms();
  return result;
}
#endif
int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned* milliwatts) {
  return answer("nvmlDeviceGetEnforcedPowerLimit", "power_limit_mw", milliwatts);
}
}
