#pragma once
#include <cstddef>
#include <span>

namespace attune::search {

/// What random search without replacement is expected to have found, exactly: the mean over all draws of so many configurations of the
/// fastest in them. A draw of failures alone counts as the slowest that works.
/// `valid`: costs of those that work, ascending; `configurations`: all, those that fail included.
/// Requires: `valid` is not empty, and `configurations` at least its size and `draws`.
[[nodiscard]] double expected_best(std::span<const double> valid, std::size_t configurations, std::size_t draws);

}  // namespace attune::search
