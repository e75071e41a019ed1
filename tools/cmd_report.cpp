// attune report: what the database holds of a template, as one HTML page or as text.
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <optional>

#include "attune/error.hpp"
#include "db/database.hpp"
#include "tools/cache_files.hpp"
#include "tools/commands.hpp"
#include "tools/issue_report.hpp"
#include "tools/named_template.hpp"
#include "tools/output.hpp"
#include "tools/output_target.hpp"
#include "tools/problem_arguments.hpp"
#include "tuner/base/escape.hpp"
#include "tuner/base/output_file.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/measure/measurement.hpp"
#include "tuner/report/writers.hpp"

namespace attune::tools {
namespace {

constexpr const char* kStandardOutput = "-";

struct ReportOptions {
  std::string template_name;
  std::string format = "html";
  std::string output;
  std::string database;
  std::string device;
  std::string policy;
  std::vector<std::string> problem;
  bool issue = false, with_sources = false, db_rows = false;
};

/// "T=f32,op=sum" or several of them.
std::map<std::string, std::string> axes_of(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> axes;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == text.size()) {
      throw UsageError(fmt::format("failed reading --problem '{}': expected AXIS=VALUE, as in --problem T=f32,op=sum", text));
    }
    const auto [entry, fresh] = axes.emplace(text.substr(0, equals), text.substr(equals + 1));
    if (!fresh) throw UsageError(fmt::format("failed reading --problem: the axis '{}' is given twice", entry->first));
  }
  return axes;
}

report::Request request_of(const ReportOptions& options) {
  report::Request request;
  request.template_name = options.template_name;
  if (!options.device.empty()) request.device = options.device;
  if (!options.policy.empty()) request.policy = measure::to_text(measure::policy_from_text(options.policy));
  request.problem = axes_of(options.problem);
  return request;
}

/// Files of other tuners, of the `attune cache export` that a report of one problem can be.
std::optional<CacheFormat> format_of_others(const std::string& name) {
  if (name == "t4") return CacheFormat::T4;
  if (name == "kernel-tuner") return CacheFormat::KernelTuner;
  return std::nullopt;
}

/// Throws: UsageError listing what there is where that is not the records of one problem on one device under one policy.
int report_to_others(const ReportOptions& options, CacheFormat format) {
  const spec::TemplateLibrary library;
  std::optional<spec::KernelTemplate> kernel;
  auto request = request_of(options);
  if (!options.template_name.empty()) kernel = named_template(library, options.template_name);  // its folder is a name too
  if (kernel) request.template_name = kernel->name;
  const auto path = database_path(options.database);
  const auto built = report::build(db::Database::open(path, db::OpenMode::ReadOnly), request);
  if (!kernel) kernel = library.find(built.template_name);
  CacheExport work{*std::move(kernel), {}, format, path};
  work.output = options.output.empty() ? kStandardOutput : options.output;
  std::vector<std::string> found;
  for (const auto& series : built.series) {
    const auto& device = built.devices.at(series.device);
    for (const auto& problem : series.problems) {
      work.problem = spec::problem_from_text(problem.problem);
      work.device = device.key;
      work.policy = series.policy;
      found.push_back(fmt::format("{} on {} under {}", describe(work.problem), base::escape_line(device.name), series.policy));
    }
  }
  if (found.size() != 1) {
    throw UsageError(fmt::format(
        "failed writing a report as {}: such a file holds one problem on one device under one policy, and there are {}; name one with "
        "--problem, --device and --policy:\n{}",
        options.format, found.size(), fmt::join(found, "\n")));
  }
  return export_cache(work);
}

int report(const ReportOptions& options) {
  if (const auto others = format_of_others(options.format)) return report_to_others(options, *others);
  const report::Format format = report::format_from_name(options.format);
  const report::Request request = request_of(options);
  const auto path = database_path(options.database);
  std::string output = options.output;
  if (output.empty()) output = format == report::Format::Html ? "report.html" : kStandardOutput;
  check_output_target(output, path);
  const auto database = db::Database::open(path, db::OpenMode::ReadOnly);
  print_notices(database);
  const report::Report built = report::build(database, request);
  print_damaged(database, path);
  const bool on_standard_output = base::is_standard_output(output);
  write_output_target(output, report::write(built, format));
  if (!on_standard_output) base::print("Wrote {} ({} measurements of {}).\n", output, built.records, built.template_name);
  return 0;
}

int issue_of(const ReportOptions& options, const CommandContext& context) {
  return report_issue(
      {options.output, options.database, options.template_name, axes_of(options.problem), options.with_sources, options.db_rows}, context);
}

}  // namespace

void add_report_command(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<ReportOptions>();
  auto* command = app.add_subcommand("report", "Write a report: best configurations, parameter effects, convergence, failures");
  command->add_option("template", options->template_name, "Template (default: the only one in the database)");
  auto* format = command
                     ->add_option("--format", options->format,
                                  "html, md, csv or json; of one problem also t4 or kernel-tuner, as attune cache export writes them")
                     ->capture_default_str();
  command->add_option("--output", options->output,
                      "File, or - for standard output (default: report.html for html, attune-issue-DATE.md for --issue, else -)");
  command->add_option("--db", options->database, "Database file");
  auto* device = command->add_option("--device", options->device, "Only this device: its key, the beginning of it, or part of its name");
  auto* policy = command->add_option("--policy", options->policy, "Only this policy: cold/graph, hot/graph, cold/stream or hot/stream");
  command->add_option("--problem", options->problem, "Only problems with these axes, e.g. T=f32,op=sum")->delimiter(',');
  auto* issue = command->add_flag("--issue", options->issue,
                                  "A text for a report of a bug instead: version, system, findings of doctor, devices, counts of the "
                                  "database, last failures with logs; no names of user and host. Nothing is sent");
  issue->excludes(format)->excludes(device)->excludes(policy);
  command->add_flag("--with-sources", options->with_sources, "With the sources of the kernels that failed")->needs(issue);
  command->add_flag("--db-rows", options->db_rows, "With records and best rows, those of TEMPLATE and --problem where they are named")
      ->needs(issue);
  command->callback([options, &context] {
    context.action = [options, &context] { return options->issue ? issue_of(*options, context) : report(*options); };
  });
}

}  // namespace attune::tools
