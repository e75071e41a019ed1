// attune renew: tunes again what a database holds of older templates, drivers and compilers.
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "attune/error.hpp"
#include "tools/amounts.hpp"
#include "tools/commands.hpp"
#include "tools/device_list.hpp"
#include "tools/output.hpp"
#include "tools/tuning.hpp"
#include "tools/tuning_backend.hpp"
#include "tools/tuning_database.hpp"
#include "tools/tuning_summary.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/session/tune/budget.hpp"
#include "tuner/session/tune/renewal.hpp"

namespace attune::tools {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

struct RenewOptions {
  TuningOptions tuning;
  std::vector<std::string> templates;  ///< empty: all
  bool aged = false;
  std::optional<std::string> older_than;
  bool dry_run = false;

  [[nodiscard]] session::RenewalScope scope() const {
    session::RenewalScope scope{aged, {}};
    if (older_than) scope.recorded_before = moment_text(std::chrono::system_clock::now() - parse_age(*older_than, "--older-than"));
    return scope;
  }
};

/// The device and the compiler that results are compared with.
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
      throw UsageError(fmt::format(
          "failed renewing: devices {} ({}) and {} ({}) differ, and each kind has results of its own; name equal ones with --device",
          listed.front(), here.device.name, listed[i], other.name));
  }
  return here;
}

session::Present present_of(const Here& here, const spec::TemplateLibrary& library) {
  const auto names = library.names();
  return {here.device.hard_key(), here.device.driver, here.nvrtc,
          [&library, names](const std::string& name) -> std::optional<spec::KernelTemplate> {
            if (std::find(names.begin(), names.end(), name) == names.end()) return std::nullopt;
            return library.find(name);
          }};
}

/// Names of no result are a mistake, not a database without anything to do. Throws: UsageError.
void check_templates(const RenewOptions& options, const std::vector<db::BestRow>& rows) {
  std::set<std::string> known;
  for (const auto& row : rows) known.insert(row.template_name);
  for (const auto& name : options.templates) {
    if (known.contains(name)) continue;
    const std::string has = known.empty() ? "has none at all" : fmt::format("has some of {}", fmt::join(known, ", "));
    throw UsageError(fmt::format("the database has no results of a template \"{}\"; it {}", name, has));
  }
}

std::vector<db::BestRow> rows_of(const db::Database& database, const RenewOptions& options) {
  auto rows = database.best({});
  check_templates(options, rows);
  std::erase_if(rows, [&](const db::BestRow& row) {
    const bool asked = options.templates.empty() ||
                       std::find(options.templates.begin(), options.templates.end(), row.template_name) != options.templates.end();
    return !asked || (row.objective != db::kTime && row.objective != db::kUnverifiedTime);
  });
  return rows;
}

json to_json(const session::RenewalPlan& plan) {
  json renewals = json::array(), impossible = json::array();
  for (const auto& one : plan.renewals) {
    renewals.push_back({{"template", one.template_name},
                        {"policy", one.policy},
                        {"problems", one.problems.size()},
                        {"of_another_version", one.of_another_version},
                        {"of_another_driver", one.of_another_driver},
                        {"of_another_compiler", one.of_another_compiler}});
  }
  for (const auto& one : plan.impossible)
    impossible.push_back({{"template", one.template_name}, {"problem", one.problem}, {"why", one.why}});
  return {{"event", "renewal"},
          {"renewals", std::move(renewals)},
          {"current", plan.current},
          {"out_of_scope", plan.out_of_scope},
          {"of_other_devices", plan.of_other_devices},
          {"impossible", std::move(impossible)}};
}

void print_plan(const session::RenewalPlan& plan, const Here& here, const std::filesystem::path& path) {
  base::print("{} on {} (driver {}, NVRTC {})\n", base::escape_line(path.string()), base::escape_line(here.device.name), here.device.driver,
              here.nvrtc);
  if (!plan.renewals.empty()) {
    TextTable table({"template", "policy", "problems", "of another version", "driver", "compiler"});
    for (const auto& one : plan.renewals) {
      table.add({base::escape_line(one.template_name), one.policy, std::to_string(one.problems.size()),
                 std::to_string(one.of_another_version), std::to_string(one.of_another_driver), std::to_string(one.of_another_compiler)});
    }
    base::print("{}", base::Lines{table.text()});
  }
  base::print("Current: {} problems. Results of other devices, left alone: {}.\n", plan.current, plan.of_other_devices);
  if (plan.out_of_scope > 0)
    base::print("Not of the present, and not asked for: {} problems; without --aged and --older-than they are renewed too.\n",
                plan.out_of_scope);
  if (plan.impossible.empty()) return;
  base::print("Cannot be renewed, left as they are: {} problems, for example {} {}: {}\n", plan.impossible.size(),
              base::escape_line(plan.impossible.front().template_name), base::escape_line(plan.impossible.front().problem),
              base::escape_line(first_line(plan.impossible.front().why)));
}

/// What became of the problems that were to be renewed.
struct Renewed {
  std::uint64_t problems = 0, same = 0, of = 0;  ///< `same`: the configuration that won before won again
  std::uint64_t not_reached = 0;                 ///< the budget ended before what had won was measured
  bool interrupted = false;
  int exit_code = 0;

  void add(const session::RunResult& result, const session::Renewal& renewal, const Here& here) {
    bool failed = false;
    for (const auto& group : result.groups) {
      for (const auto& problem : group.problems) failed |= !add(problem, renewal, here, result.interrupted);
    }
    interrupted = result.interrupted;
    if (exit_code != 0) return;
    if (interrupted || !result.given_up.empty())
      exit_code = exit_code_of(result);
    else if (failed)
      exit_code = static_cast<int>(ExitCode::NothingValid);
  }

 private:
  /// False when nothing that was measured is of use.
  bool add(const session::ProblemResult& problem, const session::Renewal& renewal, const Here& here, bool run_interrupted) {
    const bool is_new = problem.best && !session::is_another(problem.best->driver, here.device.driver) &&
                        !session::is_another(problem.best->nvrtc, here.nvrtc);
    if (is_new) {
      ++problems;
      same += renewal.won.at(spec::to_text(problem.problem)) == problem.best->configuration ? 1 : 0;
    } else if (run_interrupted) {
      return true;
    } else if (problem.former_stays || problem.measured + problem.reused == 0) {
      ++not_reached;
    } else {
      base::tell_message(
          fmt::format("{} of {} has no new result: {}", spec::to_text(problem.problem), renewal.template_name, why_none(problem)));
      return false;
    }
    return true;
  }
  static std::string why_none(const session::ProblemResult& problem) {
    if (problem.failure_examples.empty()) return "no configuration is both verified and measured to the end";
    const auto& [outcome, example] = *problem.failure_examples.begin();
    return fmt::format("{}: {}", outcome, first_line(example.detail));
  }
};

constexpr double kLeastTime = 0.01;  // seconds: less is none

/// The share of a time budget that the next problems get of what is left of it; nothing when it is spent.
std::optional<std::string> budget_left(const std::string& text, double spent_s, std::size_t next, std::size_t left) {
  auto budget = session::Budget::parse(text);
  if (!budget.seconds) return text;
  const double remains = *budget.seconds - spent_s;
  if (remains < kLeastTime) return std::nullopt;
  budget.seconds = std::max(kLeastTime, remains * static_cast<double>(next) / static_cast<double>(left));
  return budget.text();
}

/// What all runs of one renewal have in common.
struct Common {
  const TuningOptions& tuning;
  const CommandContext& context;
  const spec::TemplateLibrary& library;
  const Here& here;
  db::Database& database;
  const std::filesystem::path& path;
};

/// A run of one template and policy. What ends it for a reason of its own does not end the others.
void renew_one(const Common& common, const session::Renewal& one, std::string budget, Renewed& renewed) {
  auto tuning = common.tuning;
  tuning.budget = std::move(budget);
  tuning.template_name = one.template_name;
  tuning.policy = one.policy;
  tuning.renew = true;
  try {
    const auto run = run_tuning({tuning, common.context.executable, common.library.find(one.template_name), one.problems, common.path},
                                common.database, BannerTo::StandardOutput);
    for (const auto& given_up : run.result.given_up) base::tell_message(given_up_text(given_up));
    renewed.add(run.result, one, common.here);
  } catch (const DatabaseError&) {
    throw;
  } catch (const Error& error) {
    if (error.exit_code() == ExitCode::Interrupted) throw;
    base::tell_message(fmt::format("gave up renewing {} problems of {}: {}", one.problems.size(), one.template_name, error.what()));
    if (tuning.json) print_json({{"event", "given_up"}, {"template", one.template_name}, {"policy", one.policy}, {"why", error.what()}});
    if (renewed.exit_code == 0) renewed.exit_code = static_cast<int>(error.exit_code());
  }
}

Renewed renew_all(const Common& common, const session::RenewalPlan& plan) {
  Renewed renewed;
  for (const auto& one : plan.renewals) renewed.of += one.problems.size();
  const auto start = Clock::now();
  std::size_t left = renewed.of;
  for (const auto& one : plan.renewals) {
    auto budget = budget_left(common.tuning.budget, std::chrono::duration<double>(Clock::now() - start).count(), one.problems.size(), left);
    left -= one.problems.size();
    if (budget)
      renew_one(common, one, *std::move(budget), renewed);
    else
      renewed.not_reached += one.problems.size();
    if (renewed.interrupted) break;
  }
  return renewed;
}

const char* what_is_left(const Renewed& renewed, bool time_is_up) {
  if (renewed.interrupted) return " Interrupted: the same command continues.";
  if (time_is_up) return " The time is up: the same command continues.";
  return renewed.not_reached > 0 ? " The others keep what they have until a larger --budget measures what had won there." : "";
}

/// A renewal creates none. What else may be wrong with the file, opening it says better. Throws: DatabaseError.
void refuse_without_database(const std::filesystem::path& path) {
  std::error_code failure;
  const auto kind = std::filesystem::status(path, failure).type();
  const auto refuse = [&](const char* why) {
    throw DatabaseError(path.string(), fmt::format("failed renewing '{}': {}; a tuning run creates it", path.string(), why));
  };
  if (kind == std::filesystem::file_type::not_found) refuse("there is no such file");
  if (kind == std::filesystem::file_type::regular && std::filesystem::file_size(path, failure) == 0) refuse("the file is empty");
}

int renew(const RenewOptions& options, const CommandContext& context) {
  check_request(options.tuning, {});
  static_cast<void>(options.scope());  // a malformed age ends the command before anything is opened
  const spec::TemplateLibrary library({options.tuning.template_folders.begin(), options.tuning.template_folders.end()});
  const auto path = database_path(options.tuning.database);
  refuse_without_database(path);
  auto database = options.dry_run ? db::Database::open(path, db::OpenMode::ReadOnly) : open_stoppable(path);
  print_notices(database);
  const auto rows = rows_of(database, options);
  print_damaged(database, path);  // what they named is not renewed
  const auto here = look_around(options, context);
  const auto plan = session::plan_renewal(rows, present_of(here, library), options.scope());
  if (options.tuning.json)
    print_json(to_json(plan));
  else
    print_plan(plan, here, path);
  if (options.dry_run || (plan.renewals.empty() && !options.tuning.json)) return 0;
  const auto renewed = renew_all({options.tuning, context, library, here, database, path}, plan);
  const bool time_is_up = renewed.not_reached > 0 && session::Budget::parse(options.tuning.budget).seconds.has_value();
  if (options.tuning.json) {
    print_json({{"event", "renewed"},
                {"problems", renewed.problems},
                {"of", renewed.of},
                {"same_configuration", renewed.same},
                {"interrupted", renewed.interrupted},
                {"not_reached", renewed.not_reached},
                {"time_is_up", time_is_up}});
  } else {
    base::print("Renewed {} of {} problems; at {} the configuration that had won won again.{}\n", renewed.problems, renewed.of,
                renewed.same, what_is_left(renewed, time_is_up));
  }
  return renewed.exit_code;
}

}  // namespace

void add_renew_command(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<RenewOptions>();
  options->tuning.strategy = "auto";
  options->tuning.budget = "64";  // what won before, and what a model makes of it
  auto* command = app.add_subcommand(
      "renew", "Tune again what a database holds of older templates, drivers or compilers, beginning with what won before");
  command->add_option("--template", options->templates, "Only results of this template; may be repeated")->allow_extra_args(false);
  command->add_flag("--aged", options->aged,
                    "Only results of templates as they are, under an older driver or compiler than here; versions compare as numbers");
  command->add_option("--older-than", options->older_than, "Only results that were recorded longer ago than this: 36h, 90d, 26w, 2y");
  command->add_flag("--dry-run", options->dry_run, "Only say what is to be renewed, and why");
  add_running_options(*command, options->tuning);
  command->footer(
      "Results of other devices and of templates that are gone stay as they are. The same command continues an interrupted run.");
  command->callback([options, &context] { context.action = [options, &context] { return renew(*options, context); }; });
}

}  // namespace attune::tools
