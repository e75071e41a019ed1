#pragma once
#include <string>

#include "tuner/report/report.hpp"

namespace attune::report {

/// The published variants of the kernel, each at its best: `chart` with a choice of the problem, variant by problem, and one table
/// for each problem. Empty when no problem has a ladder.
[[nodiscard]] std::string ladder_html(const Series& series, std::size_t index, const std::string& chart);

}  // namespace attune::report
