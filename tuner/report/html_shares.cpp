#include "tuner/report/html_shares.hpp"

#include <fmt/format.h>

#include "tuner/report/html_text.hpp"
#include "tuner/report/parameter_shares.hpp"
#include "tuner/report/text.hpp"

namespace attune::report {

namespace {

std::string shares_table(const Series& series) {
  std::vector<HtmlTable::Column> columns = {{"Parameter", HtmlTable::Kind::Text}};
  for (const ProblemReport& problem : series.problems) {
    if (problem.shares) columns.push_back({sizes_html(problem.sizes), HtmlTable::Kind::Number});
  }
  HtmlTable table(columns);
  std::vector<std::string> learnt_from = {"<span class=\"missing\">learnt from</span>"};
  for (const std::string& name : shared_parameters(series.problems)) {
    std::vector<std::string> cells = {escape_html(name)};
    for (const ProblemReport& problem : series.problems) {
      if (!problem.shares) continue;
      const ParameterShare* one = share_of(problem, name);
      cells.push_back(one == nullptr ? "&ndash;"
                                     : fmt::format("{:.2f} <span class=\"missing\">{:.2f}&thinsp;&ndash;&thinsp;{:.2f}</span>", one->share,
                                                   one->low, one->high));
    }
    table.add(cells);
  }
  for (const ProblemReport& problem : series.problems) {
    if (problem.shares) learnt_from.push_back(fmt::format("{}", problem.shares->learnt_from));
  }
  table.add(learnt_from);
  return table.html();
}

}  // namespace

std::string shares_html(const Series& series, std::size_t index, const std::string& chart) {
  std::string options;
  std::size_t last = 0;
  for (std::size_t i = 0; i < series.problems.size(); ++i) last = series.problems[i].shares ? i : last;
  for (std::size_t i = 0; i < series.problems.size(); ++i) {
    if (!series.problems[i].shares) continue;
    options += fmt::format("<option value=\"{}\"{}>{}: {} configurations</option>", i, i == last ? " selected" : "",
                           escape_html(sizes_text(series.problems[i].sizes)), series.problems[i].shares->learnt_from);
  }
  const std::string title = "<h3>Which parameters matter</h3>\n";
  if (options.empty()) return title + fmt::format("<p>{}</p>\n", escape_html(no_shares_statement()));
  return title + fmt::format("<p class=\"note\">{}</p>\n", escape_html(shares_statement())) +
         fmt::format("<p class=\"pick\" hidden><label>Problem <select data-shares=\"{}\">{}</select></label></p>\n", index, options) +
         chart + "<details>\n<summary>Shares as a table</summary>\n" + shares_table(series) + "</details>\n";
}

}  // namespace attune::report
