#include "tuner/gpu/nvml.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <utility>

namespace attune::gpu {
namespace {

constexpr int kSuccess = 0;
constexpr int kSmClock = 1;              // NVML_CLOCK_SM
constexpr int kTemperatureOfTheGpu = 0;  // NVML_TEMPERATURE_GPU

// nvmlClocksEventReasons, NVML API reference. Settings: idle (0x1), application clocks (0x2), display clocks (0x100).
constexpr unsigned long long kSettings = 0x1 | 0x2 | 0x100;
struct Reason {
  unsigned long long bit;
  const char* name;
};
constexpr std::array<Reason, 8> kReasons{{{0x4, "power_cap"},
                                          {0x8, "hw_slowdown"},
                                          {0x10, "sync_boost"},
                                          {0x20, "thermal_sw"},
                                          {0x40, "thermal_hw"},
                                          {0x80, "power_brake"},
                                          {0x200, "board_limit"},
                                          {0x400, "reliability"}}};

std::string reasons_text(unsigned long long reasons) {
  std::string text;
  const auto append = [&text](const std::string& reason) {
    if (!text.empty()) text += ',';
    text += reason;
  };
  unsigned long long left = reasons & ~kSettings;
  for (const Reason& reason : kReasons) {
    if ((left & reason.bit) != 0) append(reason.name);
    left &= ~reason.bit;
  }
  if (left != 0) append(fmt::format("reason_0x{:x}", left));
  return text;
}

template <class Function>
void resolve(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
}

}  // namespace

std::optional<Nvml::Library> Nvml::load() {
  // Kept open for the life of the process: the functions point into it.
  void* const handle = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return std::nullopt;
  Library library;
  resolve(handle, "nvmlInit_v2", library.init);
  resolve(handle, "nvmlShutdown", library.shutdown);
  resolve(handle, "nvmlDeviceGetHandleByUUID", library.device_by_uuid);
  resolve(handle, "nvmlDeviceGetClockInfo", library.clock_mhz);
  resolve(handle, "nvmlDeviceGetCurrentClocksEventReasons", library.clock_reasons);
  // Drivers before 535 know them under their former name.
  if (library.clock_reasons == nullptr) resolve(handle, "nvmlDeviceGetCurrentClocksThrottleReasons", library.clock_reasons);
  resolve(handle, "nvmlDeviceGetEnforcedPowerLimit", library.power_limit_mw);
  resolve(handle, "nvmlDeviceGetTemperature", library.temperature_c);
  resolve(handle, "nvmlDeviceGetTotalEnergyConsumption", library.energy_mj);
  if (library.init == nullptr || library.shutdown == nullptr || library.device_by_uuid == nullptr) return std::nullopt;
  return library;
}

std::optional<Nvml> Nvml::open(const std::string& uuid, std::chrono::milliseconds refresh) {
  const auto library = load();
  if (!library || library->init() != kSuccess) return std::nullopt;
  Library::Device device = nullptr;
  if (library->device_by_uuid(uuid.c_str(), &device) != kSuccess) {
    library->shutdown();
    return std::nullopt;
  }
  return Nvml(*library, device, refresh);
}

Nvml::Nvml(Nvml&& other) noexcept
    : library_(std::exchange(other.library_, Library())),
      device_(other.device_),
      refresh_(other.refresh_),
      refreshed_(other.refreshed_),
      reading_(std::move(other.reading_)) {}

Nvml::~Nvml() {
  if (library_.shutdown != nullptr) library_.shutdown();
}

const Nvml::Reading& Nvml::read() {
  unsigned mhz = 0;
  const bool clock_read = library_.clock_mhz != nullptr && library_.clock_mhz(device_, kSmClock, &mhz) == kSuccess;
  reading_.sm_clock_mhz = clock_read ? static_cast<int>(mhz) : 0;
  const auto now = std::chrono::steady_clock::now();
  if (!refreshed_ || now - *refreshed_ >= refresh_) {
    refreshed_ = now;
    refresh_slow_values();
  }
  return reading_;
}

std::optional<std::uint64_t> Nvml::energy_mj() const {
  unsigned long long millijoules = 0;
  if (library_.energy_mj == nullptr || library_.energy_mj(device_, &millijoules) != kSuccess) return std::nullopt;
  return millijoules;
}

void Nvml::refresh_slow_values() {
  unsigned long long reasons = 0;
  const bool reasons_read = library_.clock_reasons != nullptr && library_.clock_reasons(device_, &reasons) == kSuccess;
  reading_.throttle = reasons_read ? reasons_text(reasons) : "";
  unsigned milliwatts = 0;
  const bool power_read = library_.power_limit_mw != nullptr && library_.power_limit_mw(device_, &milliwatts) == kSuccess;
  reading_.power_limit_w = power_read ? milliwatts / 1000.0 : 0;
  unsigned celsius = 0;
  const bool temperature_read =
      library_.temperature_c != nullptr && library_.temperature_c(device_, kTemperatureOfTheGpu, &celsius) == kSuccess;
  reading_.temperature_c = temperature_read ? static_cast<int>(celsius) : 0;
}

}  // namespace attune::gpu
