// attune renew: tunes again what a database holds of older templates, drivers and compilers.
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "attune/error.hpp"
#include "tools/commands.hpp"
#include "tools/device_list.hpp"
#include "tools/output.hpp"
#include "tools/tuning.hpp"
#include "tools/tuning_backend.hpp"
#include "tools/tuning_summary.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/session/budget.hpp"
#include "tuner/session/renewal.hpp"

namespace attune::tools {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

struct RenewOptions {
  TuningOptions tuning;
  std::vector<std::string> templates;  ///< empty: all
  bool dry_run = false;
};

/// The device and the compiler that results are compared with, and the templates as they are now.
struct Here {
  spec::DeviceInfo device;
  std::string nvrtc;
};

/// Throws: EnvironmentError; UsageError when the devices differ: results of one kind are renewed at a time.
Here look_around(const RenewOptions& options, const CommandContext& context) {
  const auto listed = ordinals_of(options.tuning, context.executable);
  const auto settings = device_settings(listed, options.tuning.compile_workers);
  const auto backend = open_live(context.executable, settings.front(), measure::Policy{});
  Here here{backend->device(), backend->nvrtc_build()};
  for (std::size_t i = 1; i < settings.size(); ++i) {
    const auto other = device_at(context.executable, settings[i]);
    if (other.hard_key() != here.device.hard_key())
      throw UsageError(fmt::format("failed renewing: devices {} ({}) and {} ({}) differ, and each kind has results of its own; name equal ones with --device",
                                   listed.front(), here.device.name, listed[i], other.name));
  }
  return here;
}

session::Present present_of(const Here& here, const spec::TemplateLibrary& library) {
  const auto names = library.names();
  return {here.device.hard_key(), here.device.driver, here.nvrtc, [&library, names](const std::string& name) -> std::optional<spec::KernelTemplate> {
            if (std::find(names.begin(), names.end(), name) == names.end()) return std::nullopt;
            return library.find(name);
          }};
}

std::vector<db::BestRow> rows_of(const db::Database& database, const RenewOptions& options) {
  auto rows = database.best({});
  std::erase_if(rows, [&](const db::BestRow& row) {
    const bool asked = options.templates.empty() || std::find(options.templates.begin(), options.templates.end(), row.template_name) != options.templates.end();
    return !asked || row.objective != "time";
  });
  return rows;
}

json to_json(const session::RenewalPlan& plan) {
  json renewals = json::array(), impossible = json::array();
  for (const auto& one : plan.renewals) {
    renewals.push_back({{"template", one.template_name}, {"policy", one.policy}, {"problems", one.problems.size()}, {"of_another_version", one.of_another_version},
                        {"of_another_driver", one.of_another_driver}, {"of_another_compiler", one.of_another_compiler}});
  }
  for (const auto& one : plan.impossible) impossible.push_back({{"template", one.template_name}, {"problem", one.problem}, {"why", one.why}});
  return {{"event", "renewal"}, {"renewals", std::move(renewals)}, {"current", plan.current}, {"of_other_devices", plan.of_other_devices},
          {"impossible", std::move(impossible)}};
}

void print_plan(const session::RenewalPlan& plan, const Here& here, const std::filesystem::path& path) {
  base::print("{} on {} (driver {}, NVRTC {})\n", base::escape_line(path.string()), base::escape_line(here.device.name), here.device.driver, here.nvrtc);
  if (!plan.renewals.empty()) {
    TextTable table({"template", "policy", "problems", "of another version", "driver", "compiler"});
    for (const auto& one : plan.renewals) {
      table.add({base::escape_line(one.template_name), one.policy, std::to_string(one.problems.size()), std::to_string(one.of_another_version),
                 std::to_string(one.of_another_driver), std::to_string(one.of_another_compiler)});
    }
    base::print("{}", base::Lines{table.text()});
  }
  base::print("Current: {} problems. Results of other devices, left alone: {}.\n", plan.current, plan.of_other_devices);
  if (plan.impossible.empty()) return;
  base::print("Cannot be renewed, left as they are: {} problems, for example {} {}: {}\n", plan.impossible.size(),
              base::escape_line(plan.impossible.front().template_name), base::escape_line(plan.impossible.front().problem),
              base::escape_line(first_line(plan.impossible.front().why)));
}

/// What became of the problems that were renewed.
struct Renewed {
  std::uint64_t problems = 0, same = 0, of = 0;  ///< `same`: the configuration that won before won again
  bool interrupted = false;
  int exit_code = 0;

  void add(const session::RunResult& result, const std::map<std::string, std::string>& before) {
    for (const auto& group : result.groups) {
      for (const auto& problem : group.problems) {
        if (!problem.best) continue;
        ++problems;
        const auto previous = before.find(spec::to_text(problem.problem));
        same += previous != before.end() && previous->second == problem.best->configuration ? 1 : 0;
      }
    }
    interrupted = result.interrupted;
    if (exit_code == 0) exit_code = exit_code_of(result);
  }
};

/// The share of a time budget that the next problems get of what is left of it.
std::string budget_left(const std::string& text, double spent_s, std::size_t next, std::size_t left) {
  auto budget = session::Budget::parse(text);
  if (budget.seconds) budget.seconds = std::max(0.0, *budget.seconds - spent_s) * static_cast<double>(next) / static_cast<double>(left);
  return budget.text();
}

Renewed renew_all(const RenewOptions& options, const CommandContext& context, const spec::TemplateLibrary& library, const session::RenewalPlan& plan,
                  const std::vector<db::BestRow>& rows, db::Database& database, const std::filesystem::path& path) {
  Renewed renewed;
  for (const auto& one : plan.renewals) renewed.of += one.problems.size();
  const auto start = Clock::now();
  std::size_t left = renewed.of;
  for (const auto& one : plan.renewals) {
    TuningOptions tuning = options.tuning;
    tuning.template_name = one.template_name;
    tuning.policy = one.policy;
    tuning.strategy = "portfolio";
    tuning.also_try.push_back(path.string());  // what won under other versions of the template
    tuning.renew = true;
    tuning.budget = budget_left(options.tuning.budget, std::chrono::duration<double>(Clock::now() - start).count(), one.problems.size(), left);
    left -= one.problems.size();
    std::map<std::string, std::string> before;  // of any version
    for (const auto& row : rows) {
      if (row.template_name == one.template_name && row.policy == one.policy) before.emplace(row.problem, row.configuration);
    }
    const auto kernel = library.find(one.template_name);
    const auto run = run_tuning({tuning, context.executable, kernel, one.problems, path}, database, BannerTo::StandardOutput);
    for (const auto& given_up : run.result.given_up) base::tell_message(given_up_text(given_up));
    renewed.add(run.result, before);
    if (renewed.interrupted) break;
  }
  return renewed;
}

int renew(const RenewOptions& options, const CommandContext& context) {
  check_request(options.tuning, {});
  const spec::TemplateLibrary library({options.tuning.template_folders.begin(), options.tuning.template_folders.end()});
  const auto path = database_path(options.tuning.database);
  if (!std::filesystem::exists(path)) throw DatabaseError(path.string(), fmt::format("failed renewing '{}': there is no such file; a tuning run creates it", path.string()));
  auto database = open_stoppable(path);
  print_notices(database);
  const auto here = look_around(options, context);
  const auto rows = rows_of(database, options);
  const auto plan = session::plan_renewal(rows, present_of(here, library));
  if (options.tuning.json) print_json(to_json(plan), -1);
  else print_plan(plan, here, path);
  if (options.dry_run || plan.renewals.empty()) return 0;
  const auto renewed = renew_all(options, context, library, plan, rows, database, path);
  if (options.tuning.json) {
    print_json({{"event", "renewed"}, {"problems", renewed.problems}, {"of", renewed.of}, {"same_configuration", renewed.same}, {"interrupted", renewed.interrupted}}, -1);
  } else {
    base::print("Renewed {} of {} problems; at {} the configuration that had won won again.{}\n", renewed.problems, renewed.of, renewed.same,
                renewed.interrupted ? " Interrupted: the same command continues." : "");
  }
  return renewed.exit_code;
}

}  // namespace

void add_renew_command(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<RenewOptions>();
  auto* command = app.add_subcommand("renew", "Tune again what a database holds of older templates, drivers or compilers, beginning with what won before");
  command->add_option("--template", options->templates, "Only results of this template; may be repeated")->allow_extra_args(false);
  command->add_flag("--dry-run", options->dry_run, "Only say what is to be renewed, and why");
  add_running_options(*command, options->tuning);
  command->footer("Results of other devices and of templates that are gone stay as they are. The same command continues an interrupted run.");
  command->callback([options, &context] {
    context.action = [options, &context] { return renew(*options, context); };
  });
}

}  // namespace attune::tools
