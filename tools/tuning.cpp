#include "tools/tuning.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>

#include "attune/error.hpp"
#include "tools/device_list.hpp"
#include "tools/stop_signals.hpp"
#include "tools/tuning_backend.hpp"
#include "tools/tuning_events.hpp"
#include "tuner/base/escape.hpp"
#include "tuner/base/hash.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/base/text.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/session/fleet/device_fleet.hpp"
#include "tuner/session/tune/portfolio.hpp"
#include "tuner/spec/condition.hpp"

namespace attune::tools {
namespace {

using nlohmann::json;

/// Names this command among all that ever write into a database.
std::string run_key() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return base::content_key(fmt::format("{} {} {}", host.data(), ::getpid(), now));
}

session::TuneRequest request_of(const TuningJob& job) {
  session::TuneRequest request;
  request.problems = job.problems;
  request.strategy = search::strategy_named(job.options.strategy);
  request.seed = job.options.seed;
  request.budget = session::Budget::parse(job.options.budget);
  request.policy = measure::policy_from_text(job.options.policy);
  request.run = run_key();
  request.retry_failed = job.options.retry_failed;
  request.renew = job.options.renew;
  request.finalists = finalist_rule(job.options);
  request.race = race_options(job.options);
  request.where = job.where;
  request.also_try.assign(job.options.also_try.begin(), job.options.also_try.end());
  return request;
}

json start_event(const TuningJob& job, const session::TuneRequest& request, const std::vector<spec::DeviceInfo>& devices,
                 const std::vector<int>& ordinals) {
  json list = json::array();
  for (std::size_t i = 0; i < devices.size(); ++i) {
    list.push_back(
        {{"ordinal", ordinals.empty() ? json(nullptr) : json(ordinals[i])}, {"name", devices[i].name}, {"key", devices[i].hard_key()}});
  }
  return {{"run", request.run},
          {"where", job.options.where},
          {"devices", std::move(list)},
          {"device", devices.front().name},
          {"driver", devices.front().driver},
          {"database", job.database_path.string()},
          {"template", job.kernel.name},
          {"template_hash", job.kernel.content_hash},
          {"problems", job.problems.size()},
          {"strategy", search::name(request.strategy)},
          {"seed", request.seed},
          {"budget", request.budget.text()},
          {"policy", job.options.policy}};
}

void print_banner(const TuningJob& job, const std::string& banner, BannerTo to) {
  if (job.options.json) return;
  const bool in_memory = job.database_path == db::Database::kInMemory;
  const std::string text = fmt::format("{}\nTuning {} into {}\n", banner, base::escape_line(job.kernel.name),
                                       in_memory ? "memory" : base::escape_line(job.database_path.string()));
  if (to == BannerTo::StandardError) {
    base::tell("{}", base::Lines{text});
    return;
  }
  base::print("{}", base::Lines{text});
  base::flush_standard_output();
}

std::function<bool()> stop_of(const TuningJob& job) {
  return [&job] { return stop_asked() || (job.stop && job.stop()); };
}

/// The callbacks of `observer`, and the job's own behind them.
session::Observer with_own(session::Observer observer, const TuningJob& job) {
  if (job.on_record) {
    observer.recorded = [told = std::move(observer.recorded), &job](const measure::Measurement& measurement) {
      told(measurement);
      job.on_record();
    };
  }
  if (job.on_problem) {
    observer.finished = [told = std::move(observer.finished), &job](const session::ProblemResult& result) {
      told(result);
      job.on_problem(result);
    };
  }
  return observer;
}

TuningRun run_on_one(const TuningJob& job, const session::DeviceSettings& settings, db::Database& database, BannerTo banner) {
  auto chosen = choose_backend(job.options, job.executable, settings, job.kernel, job.problems);
  const auto request = request_of(job);
  const std::vector<int> ordinals = chosen.replay ? std::vector<int>{} : std::vector<int>{settings.ordinal};
  print_banner(job, chosen.banner, banner);
  TuningEvents events(job.options.json, job.problems.size(), 1, request.budget.seconds);
  json start = start_event(job, request, {chosen.backend->device()}, ordinals);
  start["replay"] = chosen.replay;
  start["origin"] = chosen.backend->origin();
  events.start(std::move(start));
  if (job.on_devices) job.on_devices({chosen.backend->device()});
  stop_on_signals();
  const auto begin = std::chrono::steady_clock::now();
  auto tuned = session::tune(job.kernel, request, *chosen.backend, database, with_own(events.observer(0, stop_of(job)), job));
  TuningRun run{{}, chosen.backend->origin(), chosen.replay};
  run.result.interrupted = tuned.interrupted;
  run.result.given_up = std::move(tuned.given_up);
  for (const auto& given_up : run.result.given_up) events.given_up(given_up);
  const bool touched = std::any_of(tuned.problems.begin(), tuned.problems.end(), [](const auto& problem) { return !problem.nothing_left; });
  const double ceiling = touched && !tuned.interrupted ? chosen.backend->read_ceiling_bytes_per_s() : 0;
  run.result.groups.push_back({chosen.backend->device(), ordinals, ceiling, std::move(tuned.problems)});
  run.result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  events.end(run.result);
  return run;
}

std::string fleet_banner(const std::vector<spec::DeviceInfo>& devices, const std::vector<int>& ordinals) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    parts.push_back(
        fmt::format("{}: {} ({}, driver {})", ordinals[i], base::escape_line(devices[i].name), devices[i].architecture, devices[i].driver));
  }
  return fmt::format("Measuring on {} devices, {}\n  {}", devices.size(), base::utc_now(), fmt::join(parts, "\n  "));
}

TuningRun run_on_several(const TuningJob& job, const std::vector<session::DeviceSettings>& settings, db::Database& database,
                         BannerTo banner) {
  const auto request = request_of(job);
  session::DeviceFleet fleet(job.kernel, request, {job.executable, job.database_path, settings});
  std::vector<int> ordinals;
  for (const auto& one : settings) ordinals.push_back(one.ordinal);
  print_banner(job, fleet_banner(fleet.devices(), ordinals), banner);
  TuningEvents events(job.options.json, job.problems.size() * fleet.group_count(), settings.size(), request.budget.seconds);
  json start = start_event(job, request, fleet.devices(), ordinals);
  start["replay"] = false;
  start["origin"] = "measured";
  events.start(std::move(start));
  if (job.on_devices) job.on_devices(fleet.devices());
  stop_on_signals();
  session::DeviceFleet::Events told;
  told.observer = [&](std::size_t device) { return with_own(events.observer(device, [] { return false; }), job); };
  told.lost = [&](std::size_t device) { events.lost(device); };
  told.given_up = [&](const session::GivenUp& given_up) { events.given_up(given_up); };
  told.notice = [&](const std::string& text) { events.notice(text); };
  told.interrupted = stop_of(job);
  TuningRun run{fleet.run(database, told), "measured", false};
  events.end(run.result);
  return run;
}

/// `--compile-timeout`. Throws: UsageError.
std::chrono::milliseconds compile_deadline(const TuningOptions& options) {
  const auto deadline =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::duration<double>(base::parse_seconds(options.compile_timeout)));
  if (deadline.count() <= 0) {
    throw UsageError(fmt::format("--compile-timeout {} leaves no time to compile; give for example 60s", options.compile_timeout));
  }
  return deadline;
}

}  // namespace

void add_where_option(CLI::App& command, TuningOptions& options) {
  command
      .add_option("--where", options.where,
                  "Try only configurations that satisfy this condition, e.g. \"block_stage == 'shuffle'\"; may be repeated, all must hold")
      ->allow_extra_args(false);
}

void add_running_options(CLI::App& command, TuningOptions& options) {
  command.add_option("--template-folder", options.template_folders, "Further folders to look for templates in")
      ->check(CLI::ExistingDirectory);
  command
      .add_option(
          "--try", options.also_try,
          "Try also what won in this database, or what this recording has of the same problem, of whatever version of the template; with tune and record where --strategy is auto, model, portfolio or winners; may be repeated")
      ->allow_extra_args(false);
  command
      .add_option("--budget", options.budget,
                  "60s or 5m (whole command), 500 (configurations a problem), 25% (of the space), separated (until the best stands "
                  "apart from all others), converged (until little is to be gained, by what auto and model expect); of a comma list the "
                  "first limit reached ends the search")
      ->capture_default_str();
  command.add_option("--seed", options.seed, "Seed of the strategy and the run-off")
      ->capture_default_str()
      ->check([](const std::string& word) { return base::whole_number_fault(word); });
  command
      .add_option(
          "--finalists", options.finalists,
          "At most so many of the fastest run off against each other, beside the default (24, or a hundredth of the configurations tried, up to 125, if that is more); fewer make dense grids of sizes cheap")
      ->check(CLI::Range(1, 1000));
  command
      .add_option(
          "--epochs", options.epochs,
          "The run-off ends after so many epochs (21) where it cannot tell who is faster, after half as many more while over five are left; fewer make dense grids of sizes cheap")
      ->check(CLI::Range(session::Race::kEarly, 1000));
  command.add_option("--db", options.database, "Database file (default: $ATTUNE_DB, else the XDG data folder)");
  command
      .add_option("--device", options.device,
                  "GPU ordinals: 0 (the default), 0,2 or all; equal GPUs share the problems, different ones tune all each")
      ->check([](const std::string& list) { return list.empty() ? "no device is named; leave --device away for GPU 0" : ""; });
  command
      .add_option("--compile-workers", options.compile_workers,
                  "NVRTC worker processes of all GPUs together (default: cores less the GPUs)")
      ->check(CLI::Range(1, 1024));
  command.add_option("--compile-timeout", options.compile_timeout, "Longest time one compilation may take: 60s, 5m")->capture_default_str();
  command.add_flag("--json", options.json, "One JSON object a line on standard output");
}

void add_tuning_options(CLI::App& command, TuningOptions& options) {
  command.add_option("template", options.template_name, "Template: a built-in name or a folder with template.json")->required();
  command
      .add_option(
          "--strategy", options.strategy,
          "auto (what won elsewhere, then learning; all of a space that the budget covers), exhaustive, random, model (a Gaussian process of what was measured), forest (random trees), local (descends to faster neighbours), genetic, differential (evolution), swarm (of particles), annealing, portfolio: only the winners of the sizes tuned before and of what stands in for them, or winners: those of every problem of the template")
      ->capture_default_str();
  command.add_option(
      "--problems", options.problems_file,
      "Problems from a file, a JSON object a line, e.g. {\"T\": \"f32\", \"op\": \"sum\", \"n\": 1000003}, or those of a recording; -: standard input");
  command.add_option("--policy", options.policy, "cold/graph, hot/graph, cold/stream or hot/stream")->capture_default_str();
  add_running_options(command, options);
  command.add_option("--replay", options.replay, "Take measurements from a recording instead of a GPU")
      ->excludes(command.get_option("--device"));
  command.add_flag("--retry-failed", options.retry_failed, "Measure again what failed before (another time limit, driver or memory)");
  command.allow_extras();
}

session::FinalistRule finalist_rule(const TuningOptions& options) {
  return options.finalists ? session::FinalistRule::of_at_most(static_cast<std::size_t>(*options.finalists)) : session::FinalistRule();
}

session::Race::Options race_options(const TuningOptions& options) {
  return options.epochs ? session::Race::Options::of_at_most(*options.epochs) : session::Race::Options();
}

std::vector<session::DeviceSettings> settings_of(const TuningOptions& options, const std::vector<int>& ordinals) {
  auto settings = device_settings(ordinals, options.compile_workers);
  for (auto& one : settings) {
    one.compile_deadline = compile_deadline(options);
    if (!options.replay.empty()) one.claims.reset();  // nothing is timed
  }
  return settings;
}

std::vector<spec::Constraint> conditions_of(const TuningOptions& options, const spec::KernelTemplate& kernel) {
  std::vector<spec::Constraint> conditions;
  for (const auto& text : options.where) {
    const std::string place = options.where.size() == 1 ? "--where" : fmt::format("--where ({})", conditions.size() + 1);
    conditions.push_back(spec::parse_condition(kernel, text, {place, 1, 1}));
  }
  return conditions;
}

void check_request(const TuningOptions& options, const std::vector<spec::Problem>& problems) {
  static_cast<void>(measure::policy_from_text(options.policy));
  static_cast<void>(DeviceList::parse(options.device));
  static_cast<void>(compile_deadline(options));
  const auto strategy = search::strategy_named(options.strategy);
  if (!search::needs_winners(strategy) && !search::expects(strategy) && !options.also_try.empty()) {
    throw UsageError(fmt::format("--try needs --strategy auto, model, portfolio or winners; {} asks nobody what to try", options.strategy));
  }
  if (session::Budget::parse(options.budget).until_converged && !search::expects(strategy)) {
    throw UsageError(
        fmt::format("--budget converged needs --strategy auto or model; {} expects nothing of what is left", options.strategy));
  }
  for (const auto& path : options.also_try) session::check_portfolio(path);  // before hours of measuring
  for (const auto& problem : problems) session::refuse_nothing(problem);
}

std::vector<int> ordinals_of(const TuningOptions& options, const std::filesystem::path& executable) {
  auto devices = DeviceList::parse(options.device);
  if (!devices.all) return devices.ordinals;
  const int count = session::DeviceFleet::count_devices(executable);
  if (count == 0) throw EnvironmentError("failed finding devices: the driver shows none (CUDA_VISIBLE_DEVICES may hide them)");
  for (int i = 0; i < count; ++i) devices.ordinals.push_back(i);
  return devices.ordinals;
}

TuningRun run_tuning(const TuningJob& job, db::Database& database, BannerTo banner) {
  const auto settings = settings_of(job.options, ordinals_of(job.options, job.executable));
  return settings.size() == 1 ? run_on_one(job, settings.front(), database, banner) : run_on_several(job, settings, database, banner);
}

int exit_code_of(const session::RunResult& result) {
  if (result.interrupted) return static_cast<int>(ExitCode::Interrupted);
  if (!result.given_up.empty()) return static_cast<int>(result.given_up.front().exit_code);
  for (const auto& group : result.groups) {
    const bool all = std::all_of(group.problems.begin(), group.problems.end(), [](const session::ProblemResult& problem) {
      return problem.best.has_value() && (!problem.restricted || !problem.restricted->configuration.empty());
    });
    if (!all) return static_cast<int>(ExitCode::NothingValid);
  }
  return static_cast<int>(ExitCode::Ok);
}

}  // namespace attune::tools
