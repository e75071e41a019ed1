#pragma once
#include <string>

#include "tuner/report/report.hpp"

namespace attune::report {

/// The search of each problem beside random search, as markup: a note, a choice of the problem, `chart`, a table. Empty where no problem
/// has enough records.
[[nodiscard]] std::string course_html(const Series& series, std::size_t index, const std::string& chart);

}  // namespace attune::report
