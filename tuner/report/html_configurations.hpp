#pragma once
#include <string>

#include "tuner/report/report.hpp"

namespace attune::report {

/// The best configuration of every problem of a series, one column a parameter: what they have in common is then seen at a glance. What
/// several problems all agree on is a line above the table, which would else be wider than the page.
[[nodiscard]] std::string configurations_html(const Series& series);

}  // namespace attune::report
