// attune ladder: the published variants of a kernel, each at its best on this GPU.
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>

#include "attune/error.hpp"
#include "tools/commands.hpp"
#include "tools/device_list.hpp"
#include "tools/ladder_output.hpp"
#include "tools/ladder_page.hpp"
#include "tools/named_template.hpp"
#include "tools/output.hpp"
#include "tools/output_target.hpp"
#include "tools/problem_arguments.hpp"
#include "tools/stop_signals.hpp"
#include "tools/tuning.hpp"
#include "tools/tuning_backend.hpp"
#include "tools/tuning_database.hpp"
#include "tools/tuning_events.hpp"
#include "tools/tuning_summary.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/output_file.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/base/text.hpp"
#include "tuner/session/variants/ladder_run.hpp"

namespace attune::tools {
namespace {

using nlohmann::json;

struct LadderOptions {
  TuningOptions tuning;
  std::string html;
  std::vector<std::string> peers;
  session::LadderEffort effort = session::LadderEffort::AsTheLadderSays;
};

/// What a ladder command needs besides its options.
struct Climbing {
  const LadderOptions& options;
  const spec::KernelTemplate& kernel;
  const spec::VariantLadder& ladder;
  const std::vector<spec::Problem>& problems;
};

json start_event(const Climbing& what, const BackendPlan& plan, const std::string& database) {
  json rungs = json::array();
  for (const auto& rung : what.ladder.rungs)
    rungs.push_back({{"name", rung.name}, {"why", rung.why}, {"where", rung.where.expression.text()}});
  const auto& first = plan.backends.front();
  json origins = json::array();
  for (const auto& backend : plan.backends) origins.push_back(backend.backend->origin());
  return {{"template", what.kernel.name},
          {"template_hash", what.kernel.content_hash},
          {"device", first.backend->device().name},
          {"driver", first.backend->device().driver},
          {"replay", first.replay},
          {"origins", std::move(origins)},
          {"database", database},
          {"problems", what.problems.size()},
          {"policy", what.options.tuning.policy},
          {"date", base::utc_now()},
          {"rungs", std::move(rungs)}};
}

session::LadderRequest request_of(const Climbing& what, const std::vector<spec::Problem>& problems) {
  const TuningOptions& options = what.options.tuning;
  session::LadderRequest request;
  request.tune.problems = problems;
  request.tune.strategy = search::strategy_named(options.strategy);
  request.tune.seed = options.seed;
  request.tune.budget = session::Budget::parse(options.budget);
  request.tune.policy = measure::policy_from_text(options.policy);
  request.tune.retry_failed = options.retry_failed;
  request.tune.finalists = finalist_rule(options);
  request.tune.race = race_options(options);
  request.effort = what.options.effort;
  return request;
}

PeerFile read_peers(const Climbing& what, const spec::DeviceInfo& device, TuningEvents& events) {
  PeerFile all;
  for (const auto& path : what.options.peers) {
    auto file = PeerFile::load(path, device, what.options.tuning.policy);
    const auto is_beside = [&](const spec::Problem& problem) { return !file.of(what.kernel.name, problem).empty(); };
    if (!file.other_device.empty()) {
      events.notice(fmt::format("the peers of {} were measured on another device ({}) and are not shown", path, file.other_device));
    } else if (file.peers.empty()) {
      events.notice(fmt::format("{} holds no peer under policy {}", path, what.options.tuning.policy));
    } else if (std::none_of(what.problems.begin(), what.problems.end(), is_beside)) {
      events.notice(fmt::format("{} holds no peer of these problems", path));
    }
    all.add(std::move(file));
  }
  return all;
}

/// The callbacks of a climb: tables as they are done, or events.
session::LadderObserver observer_of(const Climbing& what, TuningEvents& events, const PeerFile& peers) {
  session::LadderObserver observer;
  observer.tuning = events.observer(0, stop_asked);
  observer.rung = [&events](const spec::Problem& problem, const session::RungResult& rung) {
    session::ProblemResult part;
    part.problem = problem;
    part.measured = rung.measured;
    part.reused = rung.decided - std::min(rung.decided, rung.measured);
    events.part_finished(0, part);
    events.tell("rung", {{"problem", base::parse_json(spec::to_text(problem))}, {"rung", session::to_json(rung)}});
  };
  observer.ladder = [&what, &events, &peers](const session::LadderResult& result) {
    const auto beside = peers.of(what.kernel.name, result.tuned.problem);
    events.tell("ladder", ladder_event(result, what.ladder, beside));
    if (what.options.tuning.json) return;
    base::print("\n{}", base::Lines{ladder_table(result, what.kernel.name, what.options.tuning.policy, beside)});
    base::flush_standard_output();
  };
  return observer;
}

/// All legs of the plan, one after the other.
session::LadderRun climb(const Climbing& what, BackendPlan& plan, db::Database& database, const session::LadderObserver& observer) {
  const auto begin = std::chrono::steady_clock::now();
  session::LadderRun all;
  std::size_t left = what.problems.size();
  for (const auto& leg : plan.legs) {
    auto request = request_of(what, leg.problems);
    if (request.tune.budget.seconds) {
      const double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      request.tune.seconds_left =
          (*request.tune.budget.seconds - spent) * static_cast<double>(leg.problems.size()) / static_cast<double>(left);
    }
    auto run = session::run_ladder(what.kernel, what.ladder, request, *plan.backends[leg.backend].backend, database, observer);
    std::move(run.problems.begin(), run.problems.end(), std::back_inserter(all.problems));
    std::move(run.given_up.begin(), run.given_up.end(), std::back_inserter(all.given_up));
    left -= leg.problems.size();
    all.interrupted = run.interrupted;
    if (all.interrupted) break;
  }
  std::vector<const session::ProblemResult*> tuned;
  for (const auto& problem : all.problems) tuned.push_back(&problem.tuned);
  if (const std::string notice = session::not_recorded_notice(tuned); !notice.empty()) observer.tuning.notice(notice);
  return all;
}

/// As `tune` tells its end.
session::RunResult as_run(const session::LadderRun& ladders, const BackendPlan& plan, const DeviceList& devices, double wall_s) {
  session::RunResult result;
  result.interrupted = ladders.interrupted;
  result.given_up = ladders.given_up;
  result.wall_s = wall_s;
  session::GroupResult group;
  group.device = plan.backends.front().backend->device();
  if (!plan.backends.front().replay) group.ordinals = devices.ordinals;
  for (const auto& ladder : ladders.problems) {
    group.problems.push_back(ladder.tuned);
    if (ladder.read_ceiling_bytes_per_s > 0) group.read_ceiling_bytes_per_s = ladder.read_ceiling_bytes_per_s;
  }
  result.groups.push_back(std::move(group));
  return result;
}

int ladder_exit_code(const session::LadderRun& run) {
  if (run.interrupted) return static_cast<int>(ExitCode::Interrupted);
  if (!run.given_up.empty()) return static_cast<int>(run.given_up.front().exit_code);
  for (const auto& ladder : run.problems) {
    if (!ladder.winner()) return static_cast<int>(ExitCode::NothingValid);
  }
  return static_cast<int>(ExitCode::Ok);
}

void print_end(const Climbing& what, const session::LadderRun& ladders, const session::RunResult& result, bool replay) {
  const Totals totals = totals_of(result);
  base::print("{}{}{}", base::Lines{curve_tables(ladders.problems)}, base::Lines{value_tables(ladders.problems, what.ladder)},
              base::Lines{ladder_legend(what.ladder)});
  base::print("\n{} configurations {} in {:.1f} s\n", totals.measured, replay ? "replayed" : "measured", result.wall_s);
  base::print("{}", base::Lines{failures_text(totals)});
  for (const auto& given_up : result.given_up) base::tell_message(given_up_text(given_up));
  if (result.interrupted) base::print("Interrupted; everything measured is stored. The same command continues.\n");
}

/// Throws: UsageError.
spec::VariantLadder ladder_of(const spec::KernelTemplate& kernel) {
  auto ladder = spec::VariantLadder::of(kernel);
  if (!ladder) {
    throw UsageError(
        fmt::format("template \"{}\" has no ladder: its published variants go into a ladder.json beside its template.json "
                    "(docs/ladder.md)",
                    kernel.name));
  }
  if (kernel.objective)
    throw UsageError(
        fmt::format("the ladder compares times, and template \"{}\" is tuned for \"{}\"; use a copy of it without \"objective\"",
                    kernel.name, kernel.objective->value.text()));
  return *std::move(ladder);
}

int ladder(const LadderOptions& options, const CommandContext& context, const std::vector<std::string>& arguments) {
  const TuningOptions& tuning = options.tuning;
  const spec::TemplateLibrary library({tuning.template_folders.begin(), tuning.template_folders.end()});
  const auto kernel = named_template(library, tuning.template_name);
  const auto rungs = ladder_of(kernel);
  const auto problems = problems_of(kernel, tuning.problems_file, arguments, rungs.defaults);
  check_request(tuning, problems);
  if (!options.html.empty())
    check_output_target(options.html, database_path(tuning.database), "writing --html");  // before minutes of measuring
  auto devices = DeviceList::parse(tuning.device);
  if (devices.several())
    throw UsageError("the ladder is measured on one GPU, so that its rungs can be compared; give --device with one number");
  const Climbing what{options, kernel, rungs, problems};
  const auto settings = settings_of(tuning, devices.ordinals).front();
  auto plan = choose_backends(tuning, context.executable, settings, kernel, problems);
  auto [database, path] = open_results(tuning);
  print_notices(database);
  if (!tuning.json) {
    for (const auto& backend : plan.backends) base::print("{}\n", base::Lines{backend.banner});
    base::print("The ladder of {}: {} rungs, {} problem{}, into {}\n", kernel.name, rungs.rungs.size(), problems.size(),
                problems.size() == 1 ? "" : "s", path == db::Database::kInMemory ? "memory" : path.string());
    base::flush_standard_output();
  }
  TuningEvents events(tuning.json, problems.size() * rungs.rungs.size(), 1, session::Budget::parse(tuning.budget).seconds);
  events.start(start_event(what, plan, path.string()));
  stop_on_signals();
  const auto peers = read_peers(what, plan.backends.front().backend->device(), events);
  const auto begin = std::chrono::steady_clock::now();
  const auto run = climb(what, plan, database, observer_of(what, events, peers));
  const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const auto result = as_run(run, plan, devices, wall_s);
  for (const auto& given_up : result.given_up) events.given_up(given_up);
  events.end(result);
  if (!tuning.json) print_end(what, run, result, plan.backends.front().replay);
  if (!options.html.empty() && !run.problems.empty()) {
    const bool on_standard_output = base::is_standard_output(options.html);
    base::flush_standard_output();  // what was printed comes before the page, where both go to one place
    write_ladder_page(options.html,
                      {database, kernel, run.problems, plan.backends.front().backend->device().hard_key(), tuning.policy, peers});
    if (!tuning.json && !on_standard_output) base::print("Wrote {}.\n", options.html);
  }
  return ladder_exit_code(run);
}

}  // namespace

void add_ladder_command(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<LadderOptions>();
  options->tuning.strategy = "random";
  options->tuning.budget = std::to_string(session::kRungSample);
  auto* command = app.add_subcommand("ladder", "Measure the published variants of a kernel, each at its best, beside each other");
  add_tuning_options(*command, options->tuning);
  command->get_option("--budget")
      ->description(fmt::format(
          "Of each rung, as in tune; a time is shared by all rungs (default: as ladder.json says, of a rung without \"sample\" all of up to {} "
          "configurations, else {} at random)",
          session::kWholeRung, session::kRungSample));
  command->add_option("--html", options->html, "Write the report with the ladder in it to this file");
  command
      ->add_option("--peers", options->peers, "Result file of a benchmark: what other libraries took on the same device; may be repeated")
      ->allow_extra_args(false);
  command->footer(
      "The problem follows as --<axis> values, e.g. attune ladder reduce --T f32,i32 --size 64K..32M\n"
      "Samples are drawn with --seed; each table says how many configurations it takes at most.\n"
      "What the database knows is not measured again; the same command continues an interrupted one.");
  command->callback([options, command, &context] {
    const bool given = command->count("--budget") > 0 || command->count("--strategy") > 0;
    if (given) options->effort = session::LadderEffort::AsTheRequestSays;
    context.action = [options, command, &context] { return ladder(*options, context, command->remaining()); };
  });
}

}  // namespace attune::tools
