#include <fmt/format.h>

#include <algorithm>

#include "tuner/base/escape.hpp"
#include "tuner/report/text.hpp"
#include "tuner/report/writers.hpp"

namespace attune::report {

namespace {

std::string row(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& text : cells) line.append(" ").append(base::escape_markdown(text)).append(" |");
  return line + "\n";
}

/// The first `text_columns` are left-aligned, the others hold numbers.
std::string head(const std::vector<std::string>& cells, std::size_t text_columns) {
  std::string line = row(cells) + "|";
  for (std::size_t i = 0; i < cells.size(); ++i) line += i < text_columns ? " --- |" : " ---: |";
  return line + "\n";
}

template <class T, class F>
std::string or_not_recorded(const std::optional<T>& value, F format) {
  return value ? format(*value) : kNotRecorded;
}

std::string md_header(const Report& report) {
  std::string text = fmt::format("# Tuning report: {}\n\n", base::escape_markdown(report.template_name));
  if (!report.summary.empty()) text += base::escape_markdown(report.summary) + "\n\n";
  text += fmt::format("**{}**\n\n", base::escape_markdown(origin_statement(report)));
  std::vector<std::string> devices;
  for (const Device& device : report.devices) devices.push_back(device.name.empty() ? device.key : device.name);
  text += head({"", ""}, 2);
  text += row({"Device", list_text(devices)});
  text += row({"Driver", list_text(report.drivers)});
  text += row({"NVRTC", list_text(report.nvrtcs)});
  text += row({"Recorded", date_text(report.first_recorded_at, report.last_recorded_at)});
  text += row({"Template hash", report.template_hash});
  text += row({"Records", fmt::format("{}", report.records)});
  text += row({"attune", list_text(report.attune_versions)});
  text += row({"Report written", date_text(report.generated_at, "")});
  if (report.other_hash_records > 0) {
    text += fmt::format("\n{} records of other versions of this template are left out.\n", report.other_hash_records);
  }
  return text;
}

std::string md_best_table(const Series& series) {
  std::vector<std::string> columns = {"Problem", "Configuration", "Best us", "Interval us", "Default us", "Speed-up", "GB/s", "Of ceiling"};
  const bool operations = shows_operations(series);
  if (operations) columns.insert(columns.end(), {"GFLOP/s", "Of peak"});
  columns.emplace_back("Tie");
  const bool metrics = shows_metrics(series);
  if (metrics) columns.emplace_back("Metrics");
  std::string text = head(columns, 2);
  for (const ProblemReport& problem : series.problems) {
    std::vector<std::string> cells = {sizes_text(problem.sizes), "no valid configuration"};
    if (!problem.best) {
      cells.resize(columns.size(), "-");
      text += row(cells);
      continue;
    }
    const Best& best = *problem.best;
    cells = {
        sizes_text(problem.sizes),
        configuration_text(best.configuration),
        format_number(best.median_us),
        best.low_us && best.high_us ? fmt::format("{} to {}", format_number(*best.low_us), format_number(*best.high_us)) : kNotRecorded,
        or_not_recorded(best.default_us, format_number),
        or_not_recorded(best.speed_up, format_ratio),
        or_not_recorded(best.bytes_per_s, format_gb_per_s),
        or_not_recorded(best.ceiling_share, format_percent)};
    if (operations) {
      cells.push_back(or_not_recorded(best.operations_per_s, format_gflop_per_s));
      cells.push_back(or_not_recorded(best.peak_share, format_percent));
    }
    cells.emplace_back(std::string(best.tie ? "tie" : "no") + (best.verified ? "" : ", unverified"));
    if (metrics) cells.push_back(metrics_text(best.metrics));
    text += row(cells);
  }
  return text;
}

std::string outcome_table(const Series& series) {
  std::string text = head({"Problem", "Search space", "Different launches", "Stored", "Ok", "Failed"}, 1);
  for (const ProblemReport& problem : series.problems) {
    const std::uint64_t ok = ok_count(problem), failed = failed_count(problem);
    text += row({sizes_text(problem.sizes), problem.space_size > 0 ? fmt::format("{}", problem.space_size) : kNotRecorded,
                 problem.different_launches > 0 ? fmt::format("{}", problem.different_launches) : kNotRecorded,
                 fmt::format("{}", ok + failed), fmt::format("{}", ok), fmt::format("{}", failed)});
  }
  text += "\n";
  bool any = false;
  for (const ProblemReport& problem : series.problems) {
    for (const Failure& failure : problem.failures) {
      if (!any) text += head({"Problem", "Failure", "Example", "Why", "Count"}, 4);
      any = true;
      text += row({sizes_text(problem.sizes), outcome_text(failure.outcome), configuration_text(failure.example_configuration),
                   failure.example_detail.empty() ? kNotRecorded : failure.example_detail, fmt::format("{}", failure.count)});
    }
  }
  return any ? text : text + "No configuration failed.\n";
}

std::string md_clock_table(const Series& series) {
  std::string text = head({"Problem", "SM clock", "Measured while throttled", "Best measured at"}, 4);
  for (const ProblemReport& problem : series.problems) {
    text += row({sizes_text(problem.sizes), clock_text(problem.clocks),
                 throttle_text(problem.clocks, ok_count(problem) + failed_count(problem)), problem.best ? clock_text(*problem.best) : "-"});
  }
  return text;
}

/// Whether the time depends on it as far as is known: one value alone says nothing.
bool varies(const ParameterEffect& effect) { return effect.values.size() > 1; }

std::string effects_table(const ProblemReport& problem) {
  std::string rows;
  const auto ratio = [](const std::optional<double>& value) { return value ? format_ratio(*value) : std::string("none ran"); };
  std::string fixed;
  for (const ParameterEffect& effect : problem.effects) {
    if (!varies(effect)) {
      fixed += fmt::format("{}{} = {}", fixed.empty() ? "" : ", ", effect.parameter, effect.values.front().value);
      continue;
    }
    for (const ValueEffect& value : effect.values) {
      rows += row({effect.parameter, value.value + (value.is_default ? " (default)" : ""), ratio(value.best_ratio),
                   ratio(value.median_ratio), fmt::format("{}", value.timed), fmt::format("{}", value.configurations)});
    }
  }
  std::string text = rows.empty() ? "" : head({"Parameter", "Value", "Best with it", "Median with it", "Timed", "Tried"}, 2) + rows + "\n";
  if (!fixed.empty()) text += base::escape_markdown("With one value alone, and so without an effect: " + fixed) + "\n";
  return text;
}

std::string course_tables(const Series& series) {
  std::string text;
  for (const ProblemReport& problem : series.problems) {
    if (!problem.course) continue;
    text += text.empty() ? "\n### Search beside random search\n\n" + base::escape_markdown(course_statement()) + "\n" : "";
    text +=
        fmt::format("\n{}: {}\n\n", base::escape_markdown(sizes_text(problem.sizes)), base::escape_markdown(course_text(*problem.course)));
    text += head({"Evaluations", "Best us", "Random search, expected us"}, 0);
    for (const CoursePoint& point : problem.course->points) {
      text +=
          row({fmt::format("{}", point.evaluations), point.best_us ? format_number(*point.best_us) : "-", format_number(point.random_us)});
    }
  }
  return text;
}

std::string share_tables(const Series& series) {
  std::string text;
  for (const ProblemReport& problem : series.problems) {
    if (!problem.shares) continue;
    text += text.empty() ? "\n### Which parameters matter\n\n" + base::escape_markdown(shares_statement()) + "\n" : "";
    text += fmt::format("\n{}: {} configurations\n\n", base::escape_markdown(sizes_text(problem.sizes)), problem.shares->learnt_from);
    text += head({"Parameter", "Share", "Eight of ten trees"}, 1);
    for (const ParameterShare& one : problem.shares->parameters) {
      text += row({one.parameter, fmt::format("{:.2f}", one.share), fmt::format("{:.2f} to {:.2f}", one.low, one.high)});
    }
  }
  return text;
}

std::string md_session_table(const Series& series) {
  std::string text = head({"Problem", "Strategy", "State", "Budget", "Started", "Measured", "Reused", "Failed"}, 5);
  const auto count = [](std::uint64_t value) { return fmt::format("{}", value); };
  for (const ProblemReport& problem : series.problems) {
    for (const Session& session : problem.sessions) {
      text +=
          row({sizes_text(problem.sizes), fmt::format("{}, seed {}", session.strategy, session.seed), session.state,
               session.budget.empty() ? kNotRecorded : session.budget, date_text(session.started_at, ""),
               or_not_recorded(session.measured, count), or_not_recorded(session.reused, count), or_not_recorded(session.failed, count)});
    }
  }
  return text;
}

std::string series_section(const Report& report, const Series& series) {
  const Device& device = report.devices[series.device];
  std::string text =
      fmt::format("\n## {}{}{} on {}\n\n", base::escape_markdown(choices_text(series.choices)), series.choices.empty() ? "" : ", ",
                  base::escape_markdown(policy_text(series.policy)), base::escape_markdown(device.name.empty() ? device.key : device.name));
  text += base::escape_markdown(ceiling_statement(series) + peak_statement(series)) + "\n\n" + md_best_table(series);
  text += "\n### Outcomes\n\n" + outcome_table(series);
  text += "\n### Clocks\n\n" + md_clock_table(series);
  text += "\n### Sessions\n\n" + md_session_table(series) + course_tables(series) + share_tables(series);
  for (const ProblemReport& problem : series.problems) {
    if (problem.effects.empty()) continue;
    text +=
        fmt::format("\n### Effect of each parameter, {}\n\n", base::escape_markdown(sizes_text(problem.sizes))) + effects_table(problem);
  }
  return text;
}

std::string device_section(const Device& device) {
  std::string text = fmt::format("\n## Device {}\n\n", base::escape_markdown(device.name.empty() ? device.key : device.name));
  text += head({"Field", "Value"}, 2) + row({"Key", device.key});
  for (const auto& [label, value] : device.hard) text += row({label, value});
  for (const auto& [label, value] : device.soft) text += row({label, value});
  return text;
}

}  // namespace

std::string write_markdown(const Report& report) {
  std::string text = md_header(report);
  for (const Series& series : report.series) text += series_section(report, series);
  for (const Device& device : report.devices) text += device_section(device);
  return text;
}

}  // namespace attune::report
