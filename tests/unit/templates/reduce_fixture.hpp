#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tuner/spec/kernel_template.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace attune::templates::test {

inline const std::vector<std::string> kTypes = {"f32", "f64", "i32", "i8"};
inline const std::vector<std::string> kOperators = {"sum", "min", "max"};

/// The template as it is in the source tree, not the copy built into the library.
inline const spec::KernelTemplate& reduce_template() {
  static const spec::KernelTemplate kernel =
      spec::KernelTemplate::load(std::filesystem::path(ATTUNE_SOURCE_DIR) / "templates/reduce");
  return kernel;
}

/// 132 SMs.
inline spec::DeviceInfo device() { return spec::DeviceInfo::of_architecture("sm_90"); }

inline spec::Problem problem(const std::string& type, const std::string& op, std::int64_t n) {
  return {{{"T", type}, {"op", op}}, {{"n", n}}};
}

/// The default configuration with some values changed. Requires: names and values that the template declares.
inline spec::Configuration configuration(const std::map<std::string, spec::Value>& changes) {
  const auto& kernel = reduce_template();
  spec::Configuration result = spec::default_configuration(kernel);
  for (const auto& [name, value] : changes) {
    for (std::size_t p = 0; p < kernel.parameters.size(); ++p) {
      if (kernel.parameters[p].name != name) continue;
      for (std::size_t i = 0; i < kernel.parameters[p].values.size(); ++i) {
        if (spec::equal(kernel.parameters[p].values[i], value)) result.index[p] = static_cast<std::uint16_t>(i);
      }
    }
  }
  return result;
}

inline spec::Value number(std::int64_t value) { return value; }
inline spec::Value text(const char* value) { return std::string(value); }

}  // namespace attune::templates::test
