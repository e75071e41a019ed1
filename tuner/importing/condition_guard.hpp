#pragma once
#include <string>
#include <utility>
#include <vector>

#include "tuner/importing/python_translation.hpp"

namespace attune::importing {

/// A condition that can be computed for every configuration. Kernel Tuner takes one that divides by zero for satisfied, where attune ends
/// with an error: such a condition is preceded by what it divides by, "b == 0 or (a % b == 0)". That it holds where the condition cannot be
/// computed, and where the condition holds, is tried with every combination of values; of more than about a quarter of a million
/// combinations the condition stays as it is. Throws: SpecError when a condition cannot be computed otherwise.
[[nodiscard]] std::string guarded_condition(const Translation& condition, const KnownNames& names,
                                            const std::vector<std::pair<std::string, std::int64_t>>& sizes,
                                            const spec::SourcePosition& position);

}  // namespace attune::importing
