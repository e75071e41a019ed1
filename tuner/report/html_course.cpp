#include "tuner/report/html_course.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/report/html_text.hpp"
#include "tuner/report/search_course.hpp"
#include "tuner/report/text.hpp"

namespace attune::report {

namespace {

constexpr const char* kNone = "&ndash;";

std::string course_table(const Series& series) {
  const auto marks = common_marks(series.problems);
  std::vector<HtmlTable::Column> columns = {{"Best, µs, after", HtmlTable::Kind::Text}};
  for (const auto mark : marks) columns.push_back({fmt::format("{}", mark), HtmlTable::Kind::Number});
  columns.push_back({"all", HtmlTable::Kind::Number});
  HtmlTable table(columns);
  for (const ProblemReport& problem : series.problems) {
    if (!problem.course) continue;
    table.add_group(sizes_html(problem.sizes) + ": " + escape_html(course_text(*problem.course)));
    std::vector<std::string> found = {"search"}, random = {"random search, expected"};
    const auto add = [&](const CoursePoint* point) {
      found.push_back(point != nullptr && point->best_us ? format_number(*point->best_us) : kNone);
      random.push_back(point != nullptr ? format_number(point->random_us) : kNone);
    };
    for (const auto mark : marks) add(point_at(*problem.course, mark));
    add(&problem.course->points.back());
    table.add(found, {"value"});
    table.add(random, {"value"});
  }
  return table.html();
}

}  // namespace

std::string course_html(const Series& series, std::size_t index, const std::string& chart) {
  std::string options;
  for (std::size_t i = 0; i < series.problems.size(); ++i) {
    const ProblemReport& problem = series.problems[i];
    if (!problem.course) continue;
    const bool last = std::none_of(series.problems.begin() + static_cast<std::ptrdiff_t>(i) + 1, series.problems.end(),
                                   [](const ProblemReport& later) { return later.course.has_value(); });
    options += fmt::format("<option value=\"{}\"{}>{}: {}</option>", i, last ? " selected" : "", escape_html(sizes_text(problem.sizes)),
                           escape_html(course_text(*problem.course)));
  }
  if (options.empty()) return "";
  return fmt::format(
             "<h4>Beside random search</h4>\n<p class=\"note\">{} The chart ends at 2.00.</p>\n"
             "<p class=\"pick\" hidden><label>Problem <select data-course=\"{}\">{}</select></label></p>\n",
             escape_html(course_statement()), index, options) +
         chart + "<details>\n<summary>Search and random search as a table</summary>\n" + course_table(series) + "</details>\n";
}

}  // namespace attune::report
