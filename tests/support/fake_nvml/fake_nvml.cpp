// A libnvidia-ml.so.1 for tests. The environment says what it answers: ATTUNE_FAKE_NVML is a JSON object with "uuid",
// "sm_clock_mhz", "reasons", "power_limit_mw", "temperature_c" and "failing" (names of functions that return an error);
// ATTUNE_FAKE_NVML_LOG names a file that gets one line a call. Built in three folders: whole, without what newer
// drivers renamed (FAKE_NVML_FORMER), and without what tells devices apart (FAKE_NVML_BARE).
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace {

constexpr int kSuccess = 0;
constexpr int kNotSupported = 3;
constexpr int kNotFound = 6;

const nlohmann::json& told() {
  static const nlohmann::json json = nlohmann::json::parse(std::getenv("ATTUNE_FAKE_NVML"));
  return json;
}

/// Notes the call. True when it has to fail.
bool fails(const std::string& function) {
  if (const char* log = std::getenv("ATTUNE_FAKE_NVML_LOG"); log != nullptr) {
    std::ofstream(log, std::ios::app) << function << '\n';
  }
  for (const auto& failing : told().value("failing", nlohmann::json::array())) {
    if (failing == function) return true;
  }
  return false;
}

template <class Value>
int answer(const char* function, const char* key, Value* value) {
  if (fails(function)) return kNotSupported;
  *value = told().at(key).get<Value>();
  return kSuccess;
}

}  // namespace

extern "C" {
int nvmlInit_v2() { return fails("nvmlInit_v2") ? kNotSupported : kSuccess; }
int nvmlShutdown() { return fails("nvmlShutdown") ? kNotSupported : kSuccess; }
#ifndef FAKE_NVML_BARE
int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  if (fails("nvmlDeviceGetHandleByUUID")) return kNotSupported;
  static int the_device = 0;
  *device = &the_device;
  return told().at("uuid") == uuid ? kSuccess : kNotFound;
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
int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned* milliwatts) {
  return answer("nvmlDeviceGetEnforcedPowerLimit", "power_limit_mw", milliwatts);
}
}
