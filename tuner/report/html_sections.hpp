#pragma once
#include <string>

#include "tuner/report/report.hpp"

namespace attune::report {

/// The parts of the page, as markup. `index` is the series' place in the report: its charts find their data by it.
[[nodiscard]] std::string summary_html(const Report& report);
[[nodiscard]] std::string series_html(const Report& report, std::size_t index);
[[nodiscard]] std::string device_html(const Device& device);

/// "f32 sum" style heading: choices and policy.
[[nodiscard]] std::string series_title(const Report& report, const Series& series);

}  // namespace attune::report
