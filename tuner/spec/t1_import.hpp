#pragma once
#include <string>
#include <vector>

#include "tuner/spec/expression.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::spec {

/// The search space of a T1 specification (the autotuning community's JSON input format): parameters and conditions.
struct T1Space {
  std::string name;
  std::vector<Parameter> parameters;
  std::vector<Constraint> constraints;
};

/// Reads a T1 file's text. Throws: SpecError with file, line and column. `Values` is a list or a string that holds a
/// Python list; `Conditions[].Expression` is Python too. A missing `Default` is the first value. Source: the T1 schema
/// as files in the wild use it.
[[nodiscard]] T1Space parse_t1(const std::string& text, const std::string& path);

}  // namespace attune::spec
