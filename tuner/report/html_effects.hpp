#pragma once
#include <string>

#include "tuner/report/report.hpp"

namespace attune::report {

/// Parameter effects as two matrices, value by problem: best reachable, and median. `chart` goes above them.
[[nodiscard]] std::string effects_html(const Series& series, std::size_t index, const std::string& chart);
/// How far the shown session of each problem had come after 1, 2, 5, 10, ... evaluations.
[[nodiscard]] std::string convergence_table_html(const Series& series);

}  // namespace attune::report
