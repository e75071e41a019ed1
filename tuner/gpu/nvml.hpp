#pragma once
#include <chrono>
#include <optional>
#include <string>

namespace attune::gpu {

/// What the driver's management library (NVML) says of one device: clocks and what holds them back, for the record.
/// Loaded at run time, because it is not installed everywhere the driver is. Only ever reads: clocks and limits are the
/// owner's business. Whatever cannot be read is "not read" (0 or empty) and never an error: no measurement fails
/// because its clock is unknown.
class Nvml {
 public:
  struct Reading {
    int sm_clock_mhz = 0;
    /// What holds the clocks down, "power_cap,thermal_sw"; empty: nothing, or not read. Idling and clocks that somebody
    /// has set are no throttling. A reason of a later driver reads "reason_0x800".
    std::string throttle;
    double power_limit_w = 0;  ///< the enforced one
    int temperature_c = 0;
  };

  /// Nothing when there is no library, or when it does not know the device: a MIG slice goes by another UUID.
  /// `refresh`: everything but the clock is read again when it is older; the calls take up to milliseconds, and the
  /// driver itself averages over longer.
  [[nodiscard]] static std::optional<Nvml> open(const std::string& uuid,
                                                std::chrono::milliseconds refresh = std::chrono::milliseconds(100));
  Nvml(Nvml&& other) noexcept;
  Nvml& operator=(Nvml&&) = delete;
  ~Nvml();

  /// Takes about 10 us for the clock and up to milliseconds for the rest, so nothing must be in the middle of a sample.
  [[nodiscard]] const Reading& read();
  /// What the device has consumed since its driver was loaded; nothing where it does not tell. It grows in steps;
  /// how often, is not told. Units: millijoules.
  [[nodiscard]] std::optional<std::uint64_t> energy_mj() const;

 private:
  /// The functions in use. The CUDA toolkit does not bring nvml.h everywhere, so the prototypes are ours: results are
  /// C enums (int), 0 is success, handles are pointers.
  struct Library {
    using Device = void*;
    int (*init)() = nullptr;
    int (*shutdown)() = nullptr;
    int (*device_by_uuid)(const char* uuid, Device* device) = nullptr;
    int (*clock_mhz)(Device device, int clock, unsigned* mhz) = nullptr;
    int (*clock_reasons)(Device device, unsigned long long* reasons) = nullptr;
    int (*power_limit_mw)(Device device, unsigned* milliwatts) = nullptr;
    int (*temperature_c)(Device device, int sensor, unsigned* celsius) = nullptr;
    int (*energy_mj)(Device device, unsigned long long* millijoules) = nullptr;
  };
  Nvml(const Library& library, Library::Device device, std::chrono::milliseconds refresh)
      : library_(library), device_(device), refresh_(refresh) {}
  [[nodiscard]] static std::optional<Library> load();
  void refresh_slow_values();

  Library library_;
  Library::Device device_;
  std::chrono::milliseconds refresh_;
  std::optional<std::chrono::steady_clock::time_point> refreshed_;
  Reading reading_;
};

}  // namespace attune::gpu
