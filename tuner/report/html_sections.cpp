#include "tuner/report/html_sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tuner/base/median.hpp"
#include "tuner/report/html_configurations.hpp"
#include "tuner/report/html_course.hpp"
#include "tuner/report/html_effects.hpp"
#include "tuner/report/html_ladder.hpp"
#include "tuner/report/html_shares.hpp"
#include "tuner/report/html_text.hpp"
#include "tuner/report/rows.hpp"
#include "tuner/report/text.hpp"

namespace attune::report {

namespace {

using Column = HtmlTable::Column;
constexpr auto kText = HtmlTable::Kind::Text;
constexpr auto kNumber = HtmlTable::Kind::Number;
constexpr auto kDecimal = HtmlTable::Kind::Decimal;

std::string text_or_missing(const std::string& text) { return text.empty() ? kMissingHtml : escape_html(text); }

std::string fact(const std::string& title, const std::string& value) {
  return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", title, value);
}

std::string figure(const char* chart, std::size_t series, const std::string& caption, const char* css = "") {
  return fmt::format(
      "<figure class=\"chart {}\" data-chart=\"{}\" data-series=\"{}\" hidden>\n<figcaption>{}</figcaption>\n"
      "<div class=\"canvas\"><canvas role=\"img\" aria-label=\"{}\"></canvas></div>\n</figure>\n",
      css, chart, series, caption, caption);
}

std::string key_figures(const Series& series) {
  std::vector<double> speed_ups, shares, peak_shares;
  std::uint64_t tried = 0, failed = 0, tuned = 0, ties = 0;
  for (const ProblemReport& problem : series.problems) {
    failed += failed_count(problem);
    tried += ok_count(problem) + failed_count(problem);
    if (!problem.best) continue;
    ++tuned;
    ties += problem.best->tie ? 1 : 0;
    if (problem.best->speed_up) speed_ups.push_back(*problem.best->speed_up);
    if (problem.best->ceiling_share) shares.push_back(*problem.best->ceiling_share);
    if (problem.best->peak_share) peak_shares.push_back(*problem.best->peak_share);
  }
  std::string html = "<dl class=\"keys\">\n";
  html += fact("Problems tuned", fmt::format("{} of {}", tuned, series.problems.size()));
  html += fact("Median speed-up over default", speed_ups.empty() ? kMissingHtml : format_ratio(base::median(speed_ups)));
  const auto highest = [](const std::vector<double>& of) {
    return of.empty() ? kMissingHtml : format_percent(*std::max_element(of.begin(), of.end()));
  };
  html += fact("Highest share of ceiling", highest(shares));
  if (shows_operations(series)) html += fact("Highest share of peak", highest(peak_shares));
  html += fact("Configurations stored", fmt::format("{}, {} failed", tried, failed));
  html += fact("Ties in the run-off", fmt::format("{}", ties));
  return html + "</dl>\n";
}

std::string html_best_table(const Series& series) {
  std::vector<Column> columns = {{"Problem", kText},    {"Best, µs", kDecimal}, {"95 % interval, µs", kNumber}, {"Default, µs", kDecimal},
                                 {"Speed-up", kNumber}, {"GB/s", kDecimal},     {"Of ceiling", kNumber}};
  const bool operations = shows_operations(series);
  if (operations) columns.insert(columns.end(), {{"GFLOP/s", kDecimal}, {"Of peak", kNumber}});
  columns.push_back({"Run-off", kText});
  const bool metrics = shows_metrics(series);
  if (metrics) columns.push_back({"Metrics", kText});
  HtmlTable table(columns);
  for (const ProblemReport& problem : series.problems) {
    std::vector<std::string> cells = {sizes_html(problem.sizes), "no valid configuration"};
    if (!problem.best) {
      cells.resize(columns.size());
      table.add(cells, {"", "missing"});
      continue;
    }
    const Best& best = *problem.best;
    const std::string interval = best.low_us && best.high_us
                                     ? fmt::format("{}&thinsp;&ndash;&thinsp;{}", format_number(*best.low_us), format_number(*best.high_us))
                                     : kMissingHtml;
    std::string run_off = best.tie ? "tie" : "clear";
    if (!best.verified) run_off += ", unverified";
    cells = {sizes_html(problem.sizes),
             format_number(best.median_us),
             interval,
             or_missing(best.default_us, format_number),
             or_missing(best.speed_up, format_ratio),
             or_missing(best.bytes_per_s, format_gb_per_s),
             or_missing(best.ceiling_share, format_percent)};
    if (operations) {
      cells.push_back(or_missing(best.operations_per_s, format_gflop_per_s));
      cells.push_back(or_missing(best.peak_share, format_percent));
    }
    cells.push_back(run_off);
    if (metrics) cells.push_back(escape_html(metrics_text(best.metrics)));
    table.add(cells, {"", "strong"});
  }
  return table.html();
}

std::string finalist_table(const Series& series) {
  HtmlTable table({{"Configuration", kText}, {"Median, µs", kDecimal}, {"Time / best", kNumber}, {"95 % interval", kNumber}});
  bool any = false;
  for (const ProblemReport& problem : series.problems) {
    if (!problem.best || problem.best->finalists.empty()) continue;
    any = true;
    const std::string rounds = problem.best->rounds ? fmt::format(", {} rounds", *problem.best->rounds) : "";
    table.add_group(sizes_html(problem.sizes) + rounds);
    for (const Finalist& finalist : problem.best->finalists) {
      const bool chosen = finalist.configuration == problem.best->configuration;
      table.add(
          {escape_html(configuration_text(finalist.configuration)) + (chosen ? " <b>(chosen)</b>" : ""), format_number(finalist.median_us),
           fmt::format("{:.4f}", finalist.ratio), fmt::format("{:.4f}&thinsp;&ndash;&thinsp;{:.4f}", finalist.low, finalist.high)},
          {"config"});
    }
  }
  return any ? table.html() : fmt::format("<p>The finalists of the run-off were {}.</p>\n", kNotRecorded);
}

std::string details(const std::string& summary, const std::string& body) {
  return fmt::format("<details>\n<summary>{}</summary>\n{}</details>\n", summary, body);
}

std::string html_clock_table(const Series& series) {
  HtmlTable table({{"Problem", kText}, {"SM clock", kText}, {"Measured while throttled", kText}, {"Best measured at", kText}});
  for (const ProblemReport& problem : series.problems) {
    const bool throttled = problem.clocks && problem.clocks->throttled > 0;
    table.add({sizes_html(problem.sizes), escape_html(clock_text(problem.clocks)),
               escape_html(throttle_text(problem.clocks, ok_count(problem) + failed_count(problem))),
               problem.best ? escape_html(clock_text(*problem.best)) : ""},
              {"", "", throttled ? "strong" : ""});
  }
  return table.html();
}

/// Throttled measurements are worth a line in the open, clocks as such only a look.
std::string clock_section(const Series& series) {
  std::uint64_t throttled = 0;
  for (const ProblemReport& problem : series.problems) throttled += problem.clocks ? problem.clocks->throttled : 0;
  if (throttled == 0) return details("Clocks while measuring", html_clock_table(series));
  return fmt::format(
             "<h3>Clocks</h3>\n<p class=\"note\">{} of the stored measurements were made while something held the "
             "clocks down: they are longer than the device allows.</p>\n",
             throttled) +
         html_clock_table(series);
}

std::string html_session_table(const Series& series) {
  HtmlTable table({{"Problem", kText},
                   {"Strategy", kText},
                   {"State", kText},
                   {"Budget", kText},
                   {"Started", kText},
                   {"Space", kNumber},
                   {"Different launches", kNumber},
                   {"Measured", kNumber},
                   {"Reused", kNumber},
                   {"Failed", kNumber},
                   {"Replayed from", kText}});
  const auto count = [](std::uint64_t value) { return fmt::format("{}", value); };
  bool any = false;
  for (const ProblemReport& problem : series.problems) {
    for (const Session& session : problem.sessions) {
      any = true;
      const std::string replayed = session.replayed_from.empty() ? "&ndash;" : escape_html(session.replayed_from);
      table.add({sizes_html(problem.sizes), escape_html(fmt::format("{}, seed {}", session.strategy, session.seed)),
                 text_or_missing(session.state), text_or_missing(session.budget), escape_html(date_text(session.started_at, "")),
                 session.space_size > 0 ? count(session.space_size) : kMissingHtml,
                 session.different_launches > 0 ? count(session.different_launches) : kMissingHtml, or_missing(session.measured, count),
                 or_missing(session.reused, count), or_missing(session.failed, count), replayed});
    }
  }
  return any ? table.html() : fmt::format("<p>Tuning sessions: {}.</p>\n", kNotRecorded);
}

/// Each kind once with its total and the first example; the matrix holds the counts of each problem.
std::string failure_examples(const std::vector<Failure>& failures) {
  HtmlTable table({{"Failure", kText}, {"Count", kNumber}, {"Example", kText}, {"Why", kText}});
  for (const Failure& failure : failures) {
    table.add({escape_html(outcome_text(failure.outcome)), fmt::format("{}", failure.count),
               escape_html(configuration_text(failure.example_configuration)), text_or_missing(failure.example_detail)},
              {"", "", "config", "detail"});
  }
  return table.html();
}

std::string failure_matrix(const Series& series, const std::vector<Failure>& kinds) {
  std::vector<Column> columns = {{"Problem", kText}, {"Stored", kNumber}, {"Ok", kNumber}};
  for (const Failure& kind : kinds) columns.push_back({escape_html(outcome_text(kind.outcome)), kNumber});
  HtmlTable table(columns);
  for (const ProblemReport& problem : series.problems) {
    std::vector<std::string> cells = {sizes_html(problem.sizes), fmt::format("{}", ok_count(problem) + failed_count(problem)),
                                      fmt::format("{}", ok_count(problem))};
    for (const Failure& kind : kinds) {
      const auto count = problem.outcomes.find(kind.outcome);
      cells.push_back(fmt::format("{}", count == problem.outcomes.end() ? 0 : count->second));
    }
    table.add(cells);
  }
  return table.html();
}

std::vector<Failure> failures_by_kind(const Series& series) {
  std::vector<Failure> kinds;
  for (const ProblemReport& problem : series.problems) {
    for (const Failure& failure : problem.failures) {
      const auto known = std::find_if(kinds.begin(), kinds.end(), [&](const Failure& kind) { return kind.outcome == failure.outcome; });
      if (known == kinds.end()) {
        kinds.push_back(failure);
      } else {
        known->count += failure.count;
      }
    }
  }
  std::stable_sort(kinds.begin(), kinds.end(), [](const Failure& a, const Failure& b) { return a.count > b.count; });
  return kinds;
}

std::string failure_list(const Series& series) {
  std::string html;
  for (const ProblemReport& problem : series.problems) {
    if (!problem.failures.empty()) html += fmt::format("<h4>{}</h4>\n", sizes_html(problem.sizes)) + failure_examples(problem.failures);
  }
  return html;
}

std::string failure_section(const Series& series, std::size_t index) {
  const std::vector<Failure> kinds = failures_by_kind(series);
  if (kinds.empty()) return "<h3>Failures</h3>\n<p>No stored configuration failed.</p>\n";
  return "<h3>Failures</h3>\n<p class=\"note\">A configuration that does not compile, does not fit, crashes, hangs or "
         "gives a wrong "
         "result is recorded and never dispatched.</p>\n" +
         failure_examples(kinds) + figure("failures", index, "Failed configurations by kind", "wide") + failure_matrix(series, kinds) +
         details("Examples of every problem", failure_list(series));
}

std::string convergence_section(const Series& series, std::size_t index) {
  const bool any = std::any_of(series.problems.begin(), series.problems.end(),
                               [](const ProblemReport& problem) { return problem.convergence_session.has_value(); });
  std::string html = "<h3>Convergence</h3>\n";
  if (any) {
    html +=
        "<p class=\"note\">Best time found so far in the newest session of each problem that measured something, "
        "relative to the last one; 1.00 means "
        "that nothing faster was found afterwards. The chart ends at 2.00.</p>\n" +
        figure("convergence", index, "Best so far against evaluations", "wide");
  } else {
    html += fmt::format("<p>The course of the search was {}.</p>\n", kNotRecorded);
  }
  if (any) html += details("Convergence as a table", convergence_table_html(series));
  html += course_html(series, index, figure("course", index, "Search and random search against evaluations", "wide"));
  return html + details("Tuning sessions", html_session_table(series));
}

std::string device_list(const Report& report) {
  std::vector<std::string> devices;
  for (const Device& device : report.devices) devices.push_back(device.name.empty() ? device.key : device.name);
  return list_text(devices);
}

}  // namespace

std::string series_title(const Report& report, const Series& series) {
  const Device& device = report.devices[series.device];
  const std::string choices = choices_text(series.choices);
  return fmt::format("{}{}{} · {}", choices, choices.empty() ? "" : " · ", policy_text(series.policy),
                     device.name.empty() ? device.key : device.name);
}

std::string summary_html(const Report& report) {
  std::string html = fmt::format("<p class=\"origin\">{}</p>\n<dl class=\"facts\">\n", escape_html(origin_statement(report)));
  html += fact("Device", escape_html(device_list(report)));
  html += fact("Driver", escape_html(list_text(report.drivers)));
  html += fact("NVRTC", escape_html(list_text(report.nvrtcs)));
  html += fact("Recorded", escape_html(date_text(report.first_recorded_at, report.last_recorded_at)));
  html += fact("Stored measurements", fmt::format("{}", report.records));
  html += fact("attune", escape_html(list_text(report.attune_versions)));
  html += fact("Template hash", fmt::format("<code>{}</code>", escape_html(report.template_hash)));
  html += fact("Report written", escape_html(date_text(report.generated_at, "")));
  html += "</dl>\n";
  if (report.other_hash_records > 0) {
    html +=
        fmt::format("<p class=\"note\">{} measurements of other versions of this template are left out.</p>\n", report.other_hash_records);
  }
  return html;
}

std::string series_html(const Report& report, std::size_t index) {
  const Series& series = report.series[index];
  std::string html = fmt::format("<section>\n<h2>{}</h2>\n", escape_html(series_title(report, series)));
  html += key_figures(series);
  html += "<h3>Best against default and ceiling</h3>\n";
  html += fmt::format("<p class=\"note\">{} A tie means that the run-off could not tell the winner from another finalist.</p>\n",
                      escape_html(ceiling_statement(series) + peak_statement(series)));
  html += "<div class=\"figures\">\n" + figure("times", index, "Time per call") +
          figure("share", index,
                 shows_operations(series) ? "Share of bandwidth ceiling and arithmetic peak" : "Share of the bandwidth ceiling") +
          "</div>\n";
  html += html_best_table(series);
  const std::string rate = shows_operations(series) ? "Throughput" : "Bandwidth";
  html += ladder_html(series, index,
                      {figure("curve", index, rate + " of each published variant over a size", "wide curve"),
                       figure("ladder", index, rate + " of each published variant at its best", "wide tall")});
  html += "<h3>Best configurations</h3>\n" + configurations_html(series);
  html += details("Finalists of the run-off", finalist_table(series));
  html += shares_html(series, index, figure("shares", index, "Share of each parameter, and eight of ten trees", "wide tall"));
  html += effects_html(series, index, figure("effects", index, "Best reachable and median time for each parameter value", "wide tall"));
  html += convergence_section(series, index);
  html += clock_section(series);
  html += failure_section(series, index);
  return html + "</section>\n";
}

std::string device_html(const Device& device) {
  HtmlTable table({{"Field", kText}, {"Value", kText}});
  table.add_group("Identity: measurements are keyed by these");
  for (const auto& [label, value] : device.hard) table.add({escape_html(label), escape_html(value)});
  table.add({"Key", fmt::format("<code>{}</code>", escape_html(device.key))});
  table.add_group("Description: shown, never compared");
  for (const auto& [label, value] : device.soft) table.add({escape_html(label), escape_html(value)});
  return fmt::format("<section class=\"device\">\n<h2>Device: {}</h2>\n{}</section>\n",
                     device.name.empty() ? "no name recorded" : escape_html(device.name), table.html());
}

}  // namespace attune::report
