#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tuner/importing/python_translation.hpp"

namespace attune::importing {

/// Makes conditions computable for every configuration. Kernel Tuner takes one that divides by zero for satisfied, where attune ends with
/// an error: such a condition is preceded by what it divides by, "b == 0 or (a % b == 0)". That this holds where the condition cannot be
/// computed, and elsewhere where the condition does, is tried with every combination of values; of a condition that has more than a quarter
/// of a million of them with some, those of 0 among them, and of few where a file's other conditions had half a million.
class ConditionGuard {
 public:
  /// Throws: SpecError when a condition can neither be computed nor preceded so.
  [[nodiscard]] std::string guarded(const Translation& condition, const KnownNames& names,
                                    const std::vector<std::pair<std::string, std::int64_t>>& sizes, const spec::SourcePosition& position);

 private:
  std::size_t left_ = std::size_t{1} << 19;
};

}  // namespace attune::importing
