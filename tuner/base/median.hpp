#pragma once
#include <vector>

namespace attune::base {

/// The middle value, or the mean of the two in the middle. Requires: not empty.
[[nodiscard]] double median(std::vector<double> values);

}  // namespace attune::base
