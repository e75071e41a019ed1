#pragma once
#include <string>
#include <vector>

#include "attune/options.hpp"
#include "tuner/runtime/layers.hpp"
#include "tuner/runtime/lookup.hpp"
#include "tuner/spec/device_info.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::runtime {

/// Whether nothing usable was tuned on this device near the asked sizes: no result of these types and choices, each of
/// its sizes at most a factor `reach` away, whose configuration is in the template's space and satisfies every constraint
/// here. Sizes of 0 are no miss: there is nothing to tune. A layer that cannot be read has no results.
[[nodiscard]] bool is_miss(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& device,
                           const std::vector<Layer>& layers, const Wanted& wanted, double reach);

/// The command line that tunes this problem as the program would. `asked_name`: as the program asked for the template.
[[nodiscard]] std::string tune_command(const std::string& asked_name, const spec::Problem& problem, const Options& options);

}  // namespace attune::runtime
