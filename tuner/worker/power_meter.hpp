#pragma once
#include "attune/error.hpp"
#include "tuner/gpu/nvml.hpp"
#include "tuner/worker/timer.hpp"

namespace attune::worker {

/// The objective needs the power, and the driver's count does not move on: no fault of a configuration.
class PowerUnknown : public Error {
 public:
  using Error::Error;
};

/// Throws: EnvironmentError where the template's objective needs the energy and the driver does not tell it. `nvml`: none is there.
void require_energy(const spec::KernelTemplate& kernel, const std::optional<gpu::Nvml>& nvml);

/// Measures the device's power while calls of one configuration follow each other, from the energy that the driver counts. It counts in
/// steps, so that a window goes from one count to another, half a second or more later; what was missed at its ends is the resolution.
/// Nothing is evicted between the calls, which go round the windows of data. Source: docs/measurement.md
class PowerMeter {
 public:
  PowerMeter(const gpu::Nvml& nvml, verify::Support& support, Timer& timer) : nvml_(&nvml), support_(&support), timer_(&timer) {}

  /// Takes about a second, or as long as three calls. Nothing: the driver does not tell, or counts on too rarely. Requires: armed. Waits.
  [[nodiscard]] std::optional<measure::Power> measure(Prepared& prepared);

 private:
  using Clock = std::chrono::steady_clock;

  /// The count of the energy when it was first seen to be that.
  struct Count {
    std::uint64_t energy_mj = 0;
    Clock::time_point at;
    Clock::duration missed{0};  ///< since the look before
  };
  void keep_busy(Prepared& prepared);
  /// The first new count that begins after `from`. Nothing: none came.
  [[nodiscard]] std::optional<Count> next_count(Prepared& prepared, Clock::time_point from);

  const gpu::Nvml* nvml_;
  verify::Support* support_;
  Timer* timer_;
  gpu::Event ends_[2];  ///< of the last chunks of calls
  int next_ = 0;        ///< whose end comes first
  int batches_ = 1;     ///< of a chunk
};

/// The power while the calls of a configuration follow each other; none where it cannot be read. Requires: armed. Waits. Throws:
/// PowerUnknown.
[[nodiscard]] measure::Power power_of(Prepared& prepared, const spec::KernelTemplate& kernel, const std::optional<gpu::Nvml>& nvml,
                                      verify::Support& support, Timer& timer);

}  // namespace attune::worker
