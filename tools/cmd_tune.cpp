// attune tune: the offline tuning run.
#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "attune/error.hpp"
#include "tools/commands.hpp"
#include "tools/device_list.hpp"
#include "tools/output.hpp"
#include "tools/problem_arguments.hpp"
#include "tools/tuning.hpp"
#include "tools/tuning_summary.hpp"

namespace attune::tools {
namespace {

struct Opened {
  db::Database database;
  std::filesystem::path path;
};

bool is_named(const TuningOptions& options) {
  const char* const variable = std::getenv("ATTUNE_DB");
  return !options.database.empty() || (variable != nullptr && *variable != '\0');
}

/// The database of the run. One that nobody named is no reason not to tune: its results are then printed and forgotten.
/// Throws: DatabaseError when a database that was named cannot be written, or the run needs one (several GPUs).
Opened open_database(const TuningOptions& options) {
  try {
    const auto path = database_path(options.database);
    return {db::Database::open(path, db::OpenMode::ReadWrite), path};
  } catch (const DatabaseError& error) {
    if (is_named(options) || DeviceList::parse(options.device).several()) throw;
    fmt::print(stderr, "attune: {}\nattune: the results of this run are not stored, only printed at its end; name a file with --db or ATTUNE_DB to keep them\n",
               error.what());
    return {db::Database::open_in_memory(), db::Database::kInMemory};
  }
}

int tune(const TuningOptions& options, const CommandContext& context, const std::vector<std::string>& arguments) {
  const spec::TemplateLibrary library({options.template_folders.begin(), options.template_folders.end()});
  const auto kernel = library.find(options.template_name);
  const auto problems = problems_from_arguments(kernel, arguments);
  check_request(options, problems);
  auto [database, path] = open_database(options);
  print_notices(database);
  const auto run = run_tuning({options, context.executable, kernel, problems, path}, database, stdout);
  if (!options.json) print_summary(run.result, run.replay);
  return exit_code_of(run.result);
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
