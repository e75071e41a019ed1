#include "tests/support/fake_cuda/settings.hpp"

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>

namespace attune::fake_cuda {
namespace {

using nlohmann::json;

void refuse_unknown(const json& object, const std::set<std::string>& known) {
  for (const auto& [name, value] : object.items()) {
    if (!known.contains(name)) throw std::runtime_error("ATTUNE_FAKE_CUDA: unknown member \"" + name + "\"");
  }
}

template <class T>
void take(const json& object, const char* name, T& value) {
  const auto found = object.find(name);
  if (found != object.end()) value = found->get<T>();
}

DeviceSettings device_from(const json& object) {
  refuse_unknown(object, {"name", "compute_capability", "sm_count", "memory_bytes", "l2_bytes", "speed"});
  DeviceSettings device;
  take(object, "name", device.name);
  take(object, "compute_capability", device.compute_capability);
  take(object, "sm_count", device.sm_count);
  take(object, "memory_bytes", device.memory_bytes);
  take(object, "l2_bytes", device.l2_bytes);
  take(object, "speed", device.speed);
  return device;
}

PlannedFault fault_from(const json& object) {
  refuse_unknown(object, {"kernel", "launch", "fault", "stall_ms"});
  PlannedFault planned;
  take(object, "kernel", planned.kernel);
  take(object, "launch", planned.launch);
  take(object, "stall_ms", planned.stall_ms);
  if (object.contains("fault")) planned.fault = fault_from_name(object.at("fault").get<std::string>());
  return planned;
}

json read(const std::string& text) {
  if (text.empty()) return json::object();
  if (text.front() == '{') return json::parse(text);
  std::ifstream file(text);
  if (!file) throw std::runtime_error("ATTUNE_FAKE_CUDA: there is no file " + text);
  return json::parse(file);
}

/// The numbers of those that CUDA_VISIBLE_DEVICES shows, in its order: numbers only, up to the first that no device has.
std::vector<int> visible_of(std::size_t devices) {
  std::vector<int> visible;
  const char* const text = std::getenv("CUDA_VISIBLE_DEVICES");
  if (text == nullptr) {
    for (std::size_t i = 0; i < devices; ++i) visible.push_back(static_cast<int>(i));
    return visible;
  }
  std::istringstream entries(text);
  for (std::string entry; std::getline(entries, entry, ',');) {
    const bool number = !entry.empty() && entry.size() < 6 && entry.find_first_not_of("0123456789") == std::string::npos;
    if (!number || std::stoul(entry) >= devices) break;
    visible.push_back(std::stoi(entry));
  }
  return visible;
}

}  // namespace

Settings Settings::from_environment() {
  const char* const text = std::getenv("ATTUNE_FAKE_CUDA");
  const json object = read(text == nullptr ? "" : text);
  refuse_unknown(object, {"devices", "noise", "drift_per_s", "real_time", "loading_us", "seed", "init_result", "driver_version", "faults"});
  Settings settings;
  for (const auto& device : object.value("devices", json::array({json::object()}))) settings.devices.push_back(device_from(device));
  settings.visible = visible_of(settings.devices.size());
  take(object, "noise", settings.noise);
  take(object, "drift_per_s", settings.drift_per_s);
  take(object, "real_time", settings.real_time);
  take(object, "loading_us", settings.loading_us);
  take(object, "seed", settings.seed);
  settings.init_result = static_cast<CUresult>(object.value("init_result", 0));
  take(object, "driver_version", settings.driver_version);
  for (const auto& fault : object.value("faults", json::array())) settings.faults.push_back(fault_from(fault));
  return settings;
}

}  // namespace attune::fake_cuda
