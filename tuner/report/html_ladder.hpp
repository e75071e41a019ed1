#pragma once
#include <string>

#include "tuner/report/report.hpp"

namespace attune::report {

/// Figures as markup; the page's script fills them.
struct LadderCharts {
  std::string curves;  ///< every variant over one size, for problems with several
  std::string rungs;   ///< the variants of one problem
};

/// The published variants of the kernel, each at its best: where problems have several sizes, curves over one of them with a choice of the
/// others; the variants of a chosen problem, variant by problem, and one table for each problem. Empty when no problem has a ladder.
[[nodiscard]] std::string ladder_html(const Series& series, std::size_t index, const LadderCharts& charts);

}  // namespace attune::report
