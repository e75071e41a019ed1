#pragma once
#include "tuner/search/hints.hpp"
#include "tuner/simulate/recorded_space.hpp"

namespace attune::simulate {

/// Whether both have parameters of the same names: likely the same kernel, measured elsewhere.
[[nodiscard]] bool has_parameters_of(const RecordedSpace& source, const RecordedSpace& target);

/// What the source measured of the target's configurations: those whose values are all among the target's, and which are in its space.
/// Requires: has_parameters_of(source, target).
[[nodiscard]] search::HintSource hints_for(const RecordedSpace& target, const RecordedSpace& source);

}  // namespace attune::simulate
