#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tuner/spec/device_info.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::tools {

/// Reads values of parameters as a user writes them: words "block_size=64 items=2", or a JSON object. Values of words are numbers and
/// true or false where they read as such. Throws: UsageError.
[[nodiscard]] nlohmann::json parameter_values(const std::string& text);

/// The same as a configuration; parameters that the text does not name stand as in `others`.
/// Throws: UsageError naming the parameter that the template does not have, or the value that it cannot take, with the closest that it can.
[[nodiscard]] spec::Configuration configuration_with(const spec::KernelTemplate& kernel, const std::string& text,
                                                     spec::Configuration others);

/// Throws: UsageError naming the configuration and the first condition of the template that keeps it out of the space;
/// SpecError for a condition that cannot be evaluated.
void check_in_space(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::Configuration& configuration,
                    const spec::DeviceInfo& device);

}  // namespace attune::tools
