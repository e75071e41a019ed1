#pragma once
#include <string>

#include "tuner/report/report.hpp"

namespace attune::report {

/// Which parameters matter, as markup: a note, a choice of the problem, `chart`, a table.
[[nodiscard]] std::string shares_html(const Series& series, std::size_t index, const std::string& chart);

}  // namespace attune::report
