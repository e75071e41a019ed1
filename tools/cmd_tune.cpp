// attune tune: the offline tuning run.
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "attune/error.hpp"
#include "tools/commands.hpp"
#include "tools/output.hpp"
#include "tools/problem_arguments.hpp"
#include "tools/tuning.hpp"

namespace attune::tools {
namespace {

void print_summary(const session::TuneResult& result, bool replay, double ceiling) {
  std::uint64_t measured = 0, reused = 0;
  std::map<std::string, std::uint64_t> failed;
  std::vector<db::BestRow> best;
  double seconds = 0;
  bool nothing_left = !result.problems.empty();
  for (const auto& problem : result.problems) {
    measured += problem.measured;
    reused += problem.reused;
    seconds += problem.elapsed_s;
    nothing_left = nothing_left && problem.nothing_left;
    for (const auto& [outcome, count] : problem.failed) failed[outcome] += count;
    if (problem.best) best.push_back(*problem.best);
  }
  if (!best.empty()) fmt::print("\n{}", best_table(best, ceiling));
  fmt::print("\n{} configurations {} in {:.1f} s, {} known from before", measured, replay ? "replayed" : "measured", seconds, reused);
  for (const auto& [outcome, count] : failed) fmt::print(", {} {}", count, outcome);
  fmt::print("\n");
  if (nothing_left) fmt::print("Nothing is left to do: every configuration of this budget was decided before.\n");
  if (result.interrupted) fmt::print("Interrupted; everything measured is stored. The same command continues.\n");
}

int tune(const TuningOptions& options, const CommandContext& context, const std::vector<std::string>& arguments) {
  const spec::TemplateLibrary library({options.template_folders.begin(), options.template_folders.end()});
  const auto kernel = library.find(options.template_name);
  const auto problems = problems_from_arguments(kernel, arguments);
  check_request(options, problems);
  const auto path = database_path(options.database);
  auto database = db::Database::open(path, db::OpenMode::ReadWrite);
  auto chosen = choose_backend(options, context, kernel, problems);
  for (const auto& notice : database.notices()) fmt::print(stderr, "attune: {}\n", notice);
  if (options.json) {
    fmt::print("{}\n", nlohmann::json{{"event", "start"}, {"replay", chosen.replay}, {"device", chosen.backend->device().name},
                                      {"driver", chosen.backend->device().driver}, {"origin", chosen.backend->origin()},
                                      {"database", path.string()}, {"template", kernel.name}, {"template_hash", kernel.content_hash}}.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    fmt::print("{}\nTuning {} into {}\n", chosen.banner, kernel.name, path.string());
    std::fflush(stdout);
  }
  const auto result = run_tuning(options, kernel, problems, *chosen.backend, database);
  if (!options.json) {
    const bool touched = std::any_of(result.problems.begin(), result.problems.end(), [](const auto& p) { return !p.nothing_left; });
    print_summary(result, chosen.replay, touched && !result.interrupted ? chosen.backend->read_ceiling_bytes_per_s() : 0);
  }
  return exit_code_of(result);
}

}  // namespace

void add_tune_command(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<TuningOptions>();
  auto* command = app.add_subcommand("tune", "Search a template's configurations for some problems and keep the best");
  add_tuning_options(*command, *options);
  command->footer("The problem follows as --<axis> values, e.g. attune tune reduce --T f32 --op sum --size 2^10..2^28:x4\n"
                  "The same command continues an interrupted run; what was measured is not measured again.");
  command->callback([options, command, &context] {
    context.action = [options, command, &context] { return tune(*options, context, command->remaining()); };
  });
}

}  // namespace attune::tools
