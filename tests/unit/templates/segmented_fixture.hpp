#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tuner/spec/kernel_template.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace attune::templates::segmented {

inline const std::vector<std::string> kTypes = {"i8", "u8", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64"};
inline const std::vector<std::string> kOperators = {"sum", "product", "min", "max"};

/// The template as it is in the source tree, not the copy built into the library.
inline const spec::KernelTemplate& kernel() {
  static const spec::KernelTemplate loaded =
      spec::KernelTemplate::load(std::filesystem::path(ATTUNE_SOURCE_DIR) / "templates/segmented_reduce");
  return loaded;
}

/// 132 SMs.
inline spec::DeviceInfo device() { return spec::DeviceInfo::of_architecture("sm_90"); }

inline spec::Problem problem(const std::string& type, const std::string& op, std::int64_t rows, std::int64_t columns) {
  return {{{"T", type}, {"op", op}}, {{"rows", rows}, {"columns", columns}}};
}

/// The default configuration with some values changed; they are written as in template.json, strings without quotes.
/// Requires: names and values that the template declares.
inline spec::Configuration configuration(const std::map<std::string, std::string>& changes) {
  spec::Configuration result = spec::default_configuration(kernel());
  for (std::size_t p = 0; p < kernel().parameters.size(); ++p) {
    const auto change = changes.find(kernel().parameters[p].name);
    if (change == changes.end()) continue;
    for (std::size_t i = 0; i < kernel().parameters[p].values.size(); ++i) {
      if (spec::to_text(kernel().parameters[p].values[i]) == change->second) result.index[p] = static_cast<std::uint16_t>(i);
    }
  }
  return result;
}

}  // namespace attune::templates::segmented
