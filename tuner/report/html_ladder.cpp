#include "tuner/report/html_ladder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tuner/report/html_text.hpp"
#include "tuner/report/rates.hpp"
#include "tuner/report/size_cuts.hpp"
#include "tuner/report/text.hpp"

namespace attune::report {
namespace {

using Kind = HtmlTable::Kind;
constexpr const char* kDash = "&ndash;";

using Problems = std::vector<const ProblemReport*>;

Problems with_ladder(const Series& series) {
  Problems problems;
  for (const ProblemReport& problem : series.problems) {
    if (problem.ladder && !problem.ladder->rungs.empty()) problems.push_back(&problem);
  }
  return problems;
}

template <class F>
std::string or_dash(const std::optional<double>& value, F format) {
  return value ? escape_html(format(*value)) : kDash;
}

/// Names in the order of the ladders; one that only some problems have keeps its place.
std::vector<std::string> rung_names(const Problems& problems) {
  std::vector<std::string> names;
  for (const ProblemReport* problem : problems) {
    for (const LadderRung& rung : problem->ladder->rungs) {
      if (std::find(names.begin(), names.end(), rung.name) == names.end()) names.push_back(rung.name);
    }
  }
  return names;
}

const LadderRung* find_rung(const ProblemReport& problem, const std::string& name) {
  const auto& rungs = problem.ladder->rungs;
  const auto found = std::find_if(rungs.begin(), rungs.end(), [&](const LadderRung& rung) { return rung.name == name; });
  return found == rungs.end() ? nullptr : &*found;
}

/// Which arm of the roofline a table is of.
enum class Rate { Bytes, Operations };

std::string rung_cell(const LadderRung& rung, Rate of) {
  if (of == Rate::Bytes && rung.bytes_per_s) return format_gb_per_s(*rung.bytes_per_s);
  if (of == Rate::Operations && rung.operations_per_s) return format_gflop_per_s(*rung.operations_per_s);
  if (rung.median_us) return format_number(*rung.median_us) + "&nbsp;µs";
  if (rung.configurations == 0) return "empty";
  return rung.decided == 0 ? "not measured" : "none valid";
}

/// Rung by problem.
std::string rung_matrix(const Problems& problems, Rate of) {
  std::vector<HtmlTable::Column> columns = {{of == Rate::Bytes ? "GB/s" : "GFLOP/s", Kind::Text}};
  for (const ProblemReport* problem : problems) columns.push_back({sizes_html(problem->sizes), Kind::Number});
  HtmlTable table(columns);
  for (const std::string& name : rung_names(problems)) {
    std::vector<std::string> cells = {escape_html(name)}, classes = {"rung"};
    for (const ProblemReport* problem : problems) {
      const LadderRung* rung = find_rung(*problem, name);
      cells.push_back(rung == nullptr ? kDash : rung_cell(*rung, of));
      classes.push_back(rung != nullptr && rung->median_us ? "" : "missing");
    }
    table.add(cells, classes);
  }
  return table.html();
}

std::string peer_note(const LadderPeer& peer) {
  return escape_html(fmt::format("{}recorded {}, driver {}", peer.version.empty() ? "" : peer.version + ", ", date_text(peer.date, ""),
                                 peer.driver.empty() ? kNotRecorded : peer.driver));
}

std::string rung_note(const LadderRung& rung) {
  if (rung.configurations == 0) return escape_html(fmt::format("empty at this size: nothing satisfies {}", rung.where));
  if (rung.configuration.empty()) {
    return rung.decided == 0 ? fmt::format("not measured: none of its {} configurations was tried", rung.configurations)
                             : "no valid configuration";
  }
  return escape_html(configuration_text(rung.configuration)) + (rung.screened ? " <b>(few samples)</b>" : "");
}

/// As a rung has them: what is asked of it stands in the same columns.
LadderRung rates_of(const LadderPeer& peer, const ProblemReport& problem, const Series& series) {
  LadderRung rung;
  rung.median_us = peer.median_us;
  add_rates(rung, problem, peer.median_us, problem.ladder->ceiling_bytes_per_s, series.peak_operations_per_s);
  return rung;
}

std::string problem_table(const ProblemReport& problem, const Series& series) {
  const bool operations = shows_operations(series);
  std::vector<HtmlTable::Column> columns = {
      {"Rung", Kind::Text}, {"Time, µs", Kind::Decimal}, {"GB/s", Kind::Decimal}, {"Of ceiling", Kind::Number}};
  if (operations) columns.insert(columns.end(), {{"GFLOP/s", Kind::Decimal}, {"Of peak", Kind::Number}});
  columns.insert(columns.end(), {{"Step", Kind::Number}, {"Fastest configuration", Kind::Text}});
  std::vector<std::string> classes(columns.size());
  classes.front() = "rung";
  classes.back() = "config";
  HtmlTable table(columns);
  const auto add = [&](const std::string& name, const LadderRung& rung, const std::string& note) {
    std::vector<std::string> cells = {name, or_dash(rung.median_us, format_number), or_dash(rung.bytes_per_s, format_gb_per_s),
                                      or_dash(rung.ceiling_share, format_percent)};
    if (operations)
      cells.insert(cells.end(), {or_dash(rung.operations_per_s, format_gflop_per_s), or_dash(rung.peak_share, format_percent)});
    cells.insert(cells.end(), {or_dash(rung.step, format_ratio), note});
    table.add(cells, classes);
  };
  for (const LadderRung& rung : problem.ladder->rungs) add(escape_html(rung.name), rung, rung_note(rung));
  for (const LadderPeer& peer : problem.ladder->peers)
    add("Peer: " + escape_html(peer.name), rates_of(peer, problem, series), peer_note(peer));
  return table.html();
}

/// Value of a parameter by problem, for each parameter that the ladder tabulates.
std::string value_tables(const Problems& problems) {
  std::vector<std::string> parameters;
  for (const ProblemReport* problem : problems) {
    for (const LadderTable& table : problem->ladder->tables) {
      if (std::find(parameters.begin(), parameters.end(), table.parameter) == parameters.end()) parameters.push_back(table.parameter);
    }
  }
  std::string html;
  for (const std::string& parameter : parameters) {
    std::vector<std::string> values;
    std::vector<const LadderTable*> tables;
    for (const ProblemReport* problem : problems) {
      const auto& own = problem->ladder->tables;
      const auto found = std::find_if(own.begin(), own.end(), [&](const LadderTable& table) { return table.parameter == parameter; });
      tables.push_back(found == own.end() ? nullptr : &*found);
      for (std::size_t i = 0; tables.back() != nullptr && i < tables.back()->cells.size(); ++i) {
        const std::string& value = tables.back()->cells[i].first;
        if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
      }
    }
    std::vector<HtmlTable::Column> columns = {{"Problem", Kind::Text}, {"Winning rung", Kind::Text}};
    for (const std::string& value : values) columns.push_back({escape_html(parameter + " " + value), Kind::Decimal});
    HtmlTable table(columns);
    for (std::size_t i = 0; i < problems.size(); ++i) {
      if (tables[i] == nullptr) continue;
      std::vector<std::string> cells = {sizes_html(problems[i]->sizes), escape_html(tables[i]->rung)};
      for (const std::string& value : values) {
        const auto& own = tables[i]->cells;
        const auto cell = std::find_if(own.begin(), own.end(), [&](const auto& one) { return one.first == value; });
        cells.push_back(cell == own.end() ? kDash : format_number(cell->second));
      }
      table.add(cells, {"", "nowrap"});
    }
    html += fmt::format("<h4>Fastest of each {} in the winning rung, µs of the search</h4>\n", escape_html(parameter)) + table.html();
  }
  return html;
}

std::string legend(const Problems& problems) {
  HtmlTable table({{"Rung", Kind::Text}, {"Why", Kind::Text}, {"Published, on other hardware", Kind::Text}});
  for (const std::string& name : rung_names(problems)) {
    const auto holder =
        std::find_if(problems.begin(), problems.end(), [&](const ProblemReport* problem) { return find_rung(*problem, name) != nullptr; });
    const LadderRung& rung = *find_rung(**holder, name);
    std::string published;
    for (const LadderFigure& figure : rung.published) {
      published += fmt::format("{}<b>{}</b>: {} <span class=\"missing\">({})</span>", published.empty() ? "" : "<br>",
                               escape_html(figure.hardware), escape_html(figure.text), escape_html(figure.source));
    }
    table.add({escape_html(name), escape_html(rung.why), published.empty() ? kDash : published}, {"rung", "config", "config"});
  }
  return table.html();
}

std::string times_note(const Problems& problems) {
  const auto off = static_cast<std::size_t>(
      std::count_if(problems.begin(), problems.end(), [](const auto* problem) { return problem->ladder->ran_off; }));
  if (off == problems.size()) return "The times of a problem are of one run-off of the rungs' fastest configurations.";
  return fmt::format("In {} of {} problems each rung's time is of its own search, not of one run-off of the rungs.", problems.size() - off,
                     problems.size());
}

/// The curves over one size where problems have several: a selector of those there are, and the chart. An option's value is the axis and
/// the indices of its problems, "bins:0,2,4".
std::string curves(const Series& series, std::size_t index, const std::string& chart) {
  std::map<std::size_t, Sizes> problems;
  for (std::size_t i = 0; i < series.problems.size(); ++i) {
    if (series.problems[i].ladder && !series.problems[i].ladder->rungs.empty()) problems[i] = series.problems[i].sizes;
  }
  const auto cuts = size_cuts(problems);
  if (cuts.empty()) return "";
  std::string html = fmt::format("<p class=\"pick\" hidden><label>Curve over <select data-curve=\"{}\">", index);
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    html += fmt::format("<option value=\"{}:{}\"{}>{}</option>", escape_html(cuts[i].axis), fmt::join(cuts[i].problems, ","),
                        i == widest_cut(cuts) ? " selected" : "",
                        escape_html(fmt::format("{} at {}", cuts[i].axis, sizes_text(cuts[i].fixed))));
  }
  return html + "</select></label></p>\n" + chart;
}

}  // namespace

std::string ladder_html(const Series& series, std::size_t index, const LadderCharts& charts) {
  const Problems problems = with_ladder(series);
  if (problems.empty()) return "";
  std::string html = fmt::format(
      "<h3>Ladder of published variants</h3>\n<p class=\"note\">Each rung is a part of the search space, at its fastest "
      "configuration on this device. A step is the time of the rung above over the rung's own. {}</p>\n",
      times_note(problems));
  html += curves(series, index, charts.curves);
  html += fmt::format("<p class=\"pick\" hidden><label>Problem <select data-ladder=\"{}\">", index);
  for (std::size_t i = 0; i < series.problems.size(); ++i) {
    if (!series.problems[i].ladder || series.problems[i].ladder->rungs.empty()) continue;
    html += fmt::format("<option value=\"{}\"{}>{}</option>", i, &series.problems[i] == problems.back() ? " selected" : "",
                        escape_html(sizes_text(series.problems[i].sizes)));
  }
  html += "</select></label></p>\n" + charts.rungs + rung_matrix(problems, Rate::Bytes);
  if (shows_operations(series)) html += rung_matrix(problems, Rate::Operations);
  for (const ProblemReport* problem : problems) {
    html += fmt::format("<details{}>\n<summary>Ladder of {}</summary>\n{}</details>\n", problem == problems.back() ? " open" : "",
                        sizes_html(problem->sizes), problem_table(*problem, series));
  }
  return html + value_tables(problems) + "<h4>Why each rung</h4>\n" + legend(problems);
}

}  // namespace attune::report
