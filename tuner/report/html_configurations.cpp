#include "tuner/report/html_configurations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tuner/report/html_text.hpp"
#include "tuner/report/rows.hpp"
#include "tuner/report/text.hpp"

namespace attune::report {
namespace {

/// The value of one parameter at every problem that has a best configuration, as markup.
struct ParameterColumn {
  std::string name;
  bool texts = false;
  std::vector<std::string> cells;

  [[nodiscard]] bool varies() const { return std::adjacent_find(cells.begin(), cells.end(), std::not_equal_to<>()) != cells.end(); }
};

std::vector<const ProblemReport*> with_best(const Series& series) {
  std::vector<const ProblemReport*> problems;
  for (const ProblemReport& problem : series.problems)
    if (problem.best) problems.push_back(&problem);
  return problems;
}

/// In the order of their first appearance.
std::vector<ParameterColumn> columns_of(const std::vector<const ProblemReport*>& problems) {
  std::vector<nlohmann::json> configurations;
  std::vector<ParameterColumn> columns;
  for (const ProblemReport* problem : problems) {
    configurations.push_back(parse_object(problem->best->configuration));
    for (const auto& [name, value] : configurations.back().items()) {
      if (std::none_of(columns.begin(), columns.end(), [&, &parameter = name](const auto& column) { return column.name == parameter; }))
        columns.push_back({name, false, {}});
    }
  }
  for (ParameterColumn& column : columns) {
    for (const auto& configuration : configurations) {
      const bool there = configuration.contains(column.name);
      column.texts = column.texts || (there && configuration[column.name].is_string());
      column.cells.push_back(there ? escape_html(value_text(configuration[column.name])) : kMissingHtml);
    }
  }
  return columns;
}

}  // namespace

std::string configurations_html(const Series& series) {
  const auto problems = with_best(series);
  auto parameters = columns_of(problems);
  std::string shared;
  if (problems.size() > 1) {
    for (const auto& parameter : parameters) {
      if (!parameter.varies())
        shared += fmt::format("{}<code>{} = {}</code>", shared.empty() ? "" : ", ", escape_html(parameter.name), parameter.cells.front());
    }
    std::erase_if(parameters, [](const auto& parameter) { return !parameter.varies(); });
  }
  std::vector<HtmlTable::Column> columns = {{"Problem", HtmlTable::Kind::Text}};
  for (const auto& parameter : parameters)
    columns.push_back({escape_html(parameter.name), parameter.texts ? HtmlTable::Kind::Text : HtmlTable::Kind::Number});
  for (const char* title : {"Registers", "Shared", "Spills", "Occupancy"}) columns.push_back({title, HtmlTable::Kind::Number});
  HtmlTable table(columns);
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const Best& best = *problems[i]->best;
    std::vector<std::string> cells = {sizes_html(problems[i]->sizes)};
    for (const auto& parameter : parameters) cells.push_back(parameter.cells[i]);
    cells.push_back(or_missing(best.registers, [](std::int64_t count) { return fmt::format("{}", count); }));
    cells.push_back(or_missing(best.shared_bytes, format_bytes));
    cells.push_back(or_missing(best.spill_bytes, format_bytes));
    cells.push_back(or_missing(best.occupancy, format_percent));
    table.add(cells);
  }
  return (shared.empty() ? "" : "<p class=\"note\">The same in every best configuration: " + shared + "</p>\n") + table.html();
}

}  // namespace attune::report
