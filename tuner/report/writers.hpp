#pragma once
#include <string>

#include "tuner/report/report.hpp"

namespace attune::report {

enum class Format { Html, Markdown, Csv, Json };

/// "html", "md", "csv", "json". Throws: UsageError listing them.
[[nodiscard]] Format format_from_name(const std::string& name);

[[nodiscard]] std::string write(const Report& report, Format format);

/// One page that needs no network: style, Chart.js, data and script are inside. Every number is also in a table.
[[nodiscard]] std::string write_html(const Report& report);
[[nodiscard]] std::string write_markdown(const Report& report);
/// RFC 4180, one row a problem; an empty field was not recorded. Texts are shown with what acts on a terminal escaped, and one that
/// a spreadsheet would take for a formula begins with an apostrophe (base::escape_csv); JSON has every text as it is.
[[nodiscard]] std::string write_csv(const Report& report);
/// The whole model; null was not recorded. "attune_report" is the format version.
[[nodiscard]] std::string write_json(const Report& report);

}  // namespace attune::report
