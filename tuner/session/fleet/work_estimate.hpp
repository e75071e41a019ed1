#pragma once
#include "tuner/spec/device_info.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::session {

/// About how long a configuration takes, for the order of beginning: what takes long is begun first. Short calls take longer than
/// middling ones, because their batches are longer (measure::batch_target_us); verifying takes longer the more data there are. Units:
/// microseconds.
[[nodiscard]] double estimated_work(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& device);

}  // namespace attune::session
