// attune tune: the offline tuning run.
#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>

#include "attune/error.hpp"
#include "tools/commands.hpp"
#include "tools/named_template.hpp"
#include "tools/output.hpp"
#include "tools/problem_arguments.hpp"
#include "tools/tuning.hpp"
#include "tools/tuning_database.hpp"
#include "tools/tuning_summary.hpp"

namespace attune::tools {
namespace {

int tune(const TuningOptions& options, const CommandContext& context, const std::vector<std::string>& arguments) {
  const spec::TemplateLibrary library({options.template_folders.begin(), options.template_folders.end()});
  const auto kernel = named_template(library, options.template_name);
  const auto problems = problems_of(kernel, options.problems_file, arguments);
  check_request(options, problems);
  auto where = conditions_of(options, kernel);
  auto [database, path] = open_results(options);
  print_notices(database);
  const auto run = run_tuning({options, context.executable, kernel, problems, path, std::move(where)}, database, BannerTo::StandardOutput);
  if (!options.json) print_summary(run.result, run.replay);
  return exit_code_of(run.result);
}

}  // namespace

void add_tune_command(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<TuningOptions>();
  options->strategy = "auto";
  auto* command = app.add_subcommand("tune", "Search a template's configurations for some problems and keep the best");
  add_tuning_options(*command, *options);
  add_where_option(*command, *options);
  command->footer(
      "The problem follows as --<axis> values, e.g. attune tune reduce --T f32 --op sum --size 2^10..2^28:x4\n"
      "A range steps by a factor (:x4) or an amount (1..10:+1); without either it doubles.\n"
      "The same command continues an interrupted run; what was measured is not measured again.");
  command->callback([options, command, &context] {
    context.action = [options, command, &context] { return tune(*options, context, command->remaining()); };
  });
}

}  // namespace attune::tools
