#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "attune/argument.hpp"

namespace attune::bench {

/// What a launch of a template passes that turns `in` into `out`. `reduce` has further arguments, which a plain reduction
/// has no use for: a second input, and three values of `value_bytes` (the accumulator's size).
[[nodiscard]] inline std::vector<Argument> launch_arguments(const std::string& template_name, std::uint32_t value_bytes, const void* in,
                                                            const void* out) {
  if (template_name != "reduce") return {Argument::pointer(in), Argument::pointer(out)};
  const Argument unused{0, value_bytes};
  return {Argument::pointer(in), Argument::pointer(nullptr), Argument::pointer(out), unused, unused, unused};
}

}  // namespace attune::bench
