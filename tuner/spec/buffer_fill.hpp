#pragma once
#include <vector>

#include "tuner/spec/launch_plan.hpp"

namespace attune::spec {

/// What a pattern needs to fill a buffer at one problem: ResolvedBuffer::fill_bounds. Empty where there is nothing to fill: an empty
/// buffer takes any fill, so that the size 0 may leave a range without numbers.
/// Requires: the type and the count of `buffer`, which is what `declared` is at `problem`; `scope` is the problem's.
/// Throws: SpecError at the fill's place in template.json, with the problem: a bound that cannot be computed, a number that the type does
/// not hold, a range without numbers, whole numbers that a small floating type would round.
[[nodiscard]] std::vector<Value> resolve_fill(const BufferSpec& declared, const ResolvedBuffer& buffer, const Problem& problem,
                                              const Scope& scope);

}  // namespace attune::spec
