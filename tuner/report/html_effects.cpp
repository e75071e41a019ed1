#include "tuner/report/html_effects.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/report/html_text.hpp"
#include "tuner/report/text.hpp"

namespace attune::report {

namespace {

/// How much is lost with a value, in steps: within 2 %, 10 %, 25 %, 50 %, more.
const char* loss_class(double ratio) {
  if (ratio <= 1.02) return "loss0";
  if (ratio <= 1.10) return "loss1";
  if (ratio <= 1.25) return "loss2";
  return ratio <= 1.50 ? "loss3" : "loss4";
}

const ParameterEffect* find_parameter(const ProblemReport& problem, const std::string& parameter) {
  const auto found = std::find_if(problem.effects.begin(), problem.effects.end(),
                                  [&](const ParameterEffect& effect) { return effect.parameter == parameter; });
  return found == problem.effects.end() ? nullptr : &*found;
}

const ValueEffect* find_value(const ProblemReport& problem, const std::string& parameter, const std::string& value) {
  const ParameterEffect* effect = find_parameter(problem, parameter);
  if (effect == nullptr) return nullptr;
  const auto found =
      std::find_if(effect->values.begin(), effect->values.end(), [&](const ValueEffect& candidate) { return candidate.value == value; });
  return found == effect->values.end() ? nullptr : &*found;
}

/// Parameters and values of all problems, each once, in the order of their first appearance.
std::vector<ParameterEffect> united(const Series& series) {
  std::vector<ParameterEffect> all;
  for (const ProblemReport& problem : series.problems) {
    for (const ParameterEffect& effect : problem.effects) {
      auto known = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.parameter == effect.parameter; });
      if (known == all.end()) known = all.insert(all.end(), ParameterEffect{effect.parameter, {}});
      for (const ValueEffect& value : effect.values) {
        const bool seen =
            std::any_of(known->values.begin(), known->values.end(), [&](const ValueEffect& one) { return one.value == value.value; });
        if (!seen) known->values.push_back(value);
      }
    }
  }
  return all;
}

/// "items = 4, ...": what had one value alone, which says nothing about the time.
std::string fixed_note(const std::vector<ParameterEffect>& parameters) {
  std::string list;
  for (const ParameterEffect& parameter : parameters) {
    if (parameter.values.size() != 1) continue;
    list += fmt::format("{}<code>{} = {}</code>", list.empty() ? "" : ", ", escape_html(parameter.parameter),
                        escape_html(parameter.values.front().value));
  }
  return list.empty() ? "" : "<p class=\"note\">With one value alone, and so without an effect: " + list + "</p>\n";
}

std::string effect_matrix(const Series& series, const std::vector<ParameterEffect>& parameters, std::optional<double> ValueEffect::*ratio) {
  std::vector<HtmlTable::Column> columns = {{"Value", HtmlTable::Kind::Text}};
  for (const ProblemReport& problem : series.problems) columns.push_back({sizes_html(problem.sizes), HtmlTable::Kind::Number});
  HtmlTable table(columns);
  for (const ParameterEffect& parameter : parameters) {
    table.add_group(escape_html(parameter.parameter));
    for (const ValueEffect& value : parameter.values) {
      std::vector<std::string> cells = {escape_html(value.value) + (value.is_default ? " <span class=\"missing\">default</span>" : "")};
      std::vector<std::string> classes = {"value"};
      for (const ProblemReport& problem : series.problems) {
        const ValueEffect* here = find_value(problem, parameter.parameter, value.value);
        if (here == nullptr) {
          cells.push_back("&ndash;");
          classes.push_back("");
        } else if (const auto& found = here->*ratio; found) {
          cells.push_back(fmt::format("{:.2f}", *found));
          classes.push_back(loss_class(*found));
        } else {
          cells.push_back("none ran");
          classes.push_back("missing");
        }
      }
      table.add(cells, classes);
    }
  }
  return table.html();
}

const Session* shown_session(const ProblemReport& problem) {
  return problem.convergence_session ? &problem.sessions[*problem.convergence_session] : nullptr;
}

}  // namespace

std::string effects_html(const Series& series, std::size_t index, const std::string& chart) {
  const bool any =
      std::any_of(series.problems.begin(), series.problems.end(), [](const ProblemReport& problem) { return !problem.effects.empty(); });
  std::string html = "<h3>Effect of each parameter</h3>\n";
  if (!any) return html + fmt::format("<p>Measurements of single configurations are {}.</p>\n", kNotRecorded);
  html +=
      "<p class=\"note\">The best time that is reachable when a parameter is fixed to one value, relative to the best "
      "time of "
      "all: 1.00 means that the value costs nothing, 1.50 that every configuration with it is at least 50 % slower. "
      "A dash: no stored configuration has this value.</p>\n";
  html += fmt::format("<p class=\"pick\" hidden><label>Problem <select data-effects=\"{}\">", index);
  for (std::size_t i = 0; i < series.problems.size(); ++i) {
    html += fmt::format("<option value=\"{}\"{}>{}</option>", i, i + 1 == series.problems.size() ? " selected" : "",
                        escape_html(sizes_text(series.problems[i].sizes)));
  }
  html += "</select></label></p>\n" + chart;
  auto parameters = united(series);
  const std::string fixed = fixed_note(parameters);
  std::erase_if(parameters, [](const ParameterEffect& parameter) { return parameter.values.size() < 2; });
  if (parameters.empty()) return html + fixed;
  html += "<h4>Best reachable with the value</h4>\n" + effect_matrix(series, parameters, &ValueEffect::best_ratio) + fixed;
  return html + "<details>\n<summary>Median over the configurations with the value</summary>\n" +
         effect_matrix(series, parameters, &ValueEffect::median_ratio) + "</details>\n";
}

std::string convergence_table_html(const Series& series) {
  std::uint64_t last = 0;
  for (const ProblemReport& problem : series.problems) {
    const Session* session = shown_session(problem);
    if (session != nullptr) last = std::max(last, session->convergence.back().evaluations);
  }
  std::vector<std::uint64_t> marks;
  for (std::uint64_t decade = 1; decade <= last; decade *= 10) {
    for (const std::uint64_t step : {1, 2, 5}) {
      if (decade * step <= last) marks.push_back(decade * step);
    }
  }
  std::vector<HtmlTable::Column> columns = {{"Problem", HtmlTable::Kind::Text}};
  for (const std::uint64_t mark : marks) columns.push_back({fmt::format("{}", mark), HtmlTable::Kind::Number});
  columns.push_back({"Last, µs", HtmlTable::Kind::Number});
  HtmlTable table(columns);
  for (const ProblemReport& problem : series.problems) {
    const Session* session = shown_session(problem);
    if (session == nullptr) continue;
    const double final_us = session->convergence.back().best_us;
    std::vector<std::string> cells = {sizes_html(problem.sizes)};
    for (const std::uint64_t mark : marks) {
      double best_us = 0;
      for (const ConvergencePoint& point : session->convergence) {
        if (point.evaluations <= mark) best_us = point.best_us;
      }
      cells.push_back(best_us > 0 ? fmt::format("{:.2f}", best_us / final_us) : "&ndash;");
    }
    cells.push_back(format_number(final_us));
    table.add(cells);
  }
  return "<p class=\"note\">Best so far / last best, after so many evaluations.</p>\n" + table.html();
}

}  // namespace attune::report
