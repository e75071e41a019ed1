// attune cache: records as files that other tools read, and their files as recordings.
#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <map>
#include <memory>

#include "attune/error.hpp"
#include "tools/cache_files.hpp"
#include "tools/commands.hpp"
#include "tools/named_template.hpp"
#include "tools/problem_arguments.hpp"
#include "tuner/measure/measurement.hpp"

namespace attune::tools {
namespace {

struct CacheOptions {
  std::string template_name;
  std::vector<std::string> template_folders;
  std::string problems_file;
  std::string database;
  std::string device;
  std::string policy;
  std::string format = "kernel-tuner";
  std::string from;
  std::string output;
  bool verified_only = false;
  bool json_output = false;
};

struct Named {
  spec::KernelTemplate kernel;
  spec::Problem problem;
};

/// A file of either format holds one problem. Throws: UsageError.
Named named_problem(const CacheOptions& options, const std::vector<std::string>& arguments) {
  if (!options.policy.empty()) (void)measure::policy_from_text(options.policy);
  const spec::TemplateLibrary library({options.template_folders.begin(), options.template_folders.end()});
  auto kernel = named_template(library, options.template_name);
  auto problems = problems_of(kernel, options.problems_file, arguments);
  if (problems.size() != 1)
    throw UsageError(fmt::format("{} problems are named, and such a file holds one; name one of them", problems.size()));
  return {std::move(kernel), std::move(problems.front())};
}

int run_export(const CacheOptions& options, const std::vector<std::string>& arguments) {
  auto [kernel, problem] = named_problem(options, arguments);
  CacheExport work{std::move(kernel), std::move(problem)};
  work.format = options.format == "t4" ? CacheFormat::T4 : CacheFormat::KernelTuner;
  work.database = database_path(options.database);
  work.recording = options.from;
  work.device = options.device;
  work.policy = options.policy;
  work.output = options.output;
  work.verified_only = options.verified_only;
  work.json_output = options.json_output;
  return export_cache(work);
}

int run_import(const CacheOptions& options, const std::vector<std::string>& arguments) {
  auto [kernel, problem] = named_problem(options, arguments);
  CacheImport work{std::move(kernel), std::move(problem)};
  work.database = database_path(options.database);
  work.file = options.from;
  work.device = options.device;
  work.policy = options.policy;
  work.output = options.output;
  work.json_output = options.json_output;
  return import_cache(work);
}

using CacheWork = int (*)(const CacheOptions&, const std::vector<std::string>&);

/// With what both commands share.
CLI::App* add(CLI::App& parent, CommandContext& context, const char* name, const char* summary, std::shared_ptr<CacheOptions> options,
              CacheWork work) {
  auto* command = parent.add_subcommand(name, summary);
  command->add_option("template", options->template_name, "Template: a built-in name or a folder with template.json")->required();
  command->add_option("--template-folder", options->template_folders, "Further folders to look for templates in")
      ->check(CLI::ExistingDirectory);
  command->add_option("--problems", options->problems_file, "The problem from a file: a JSON object, or a recording of one problem");
  command->add_option("--db", options->database, "Database file");
  command->add_flag("--json", options->json_output, "The result as JSON");
  command->allow_extras();
  command->callback(
      [options, command, work, &context] { context.action = [options, command, work] { return work(*options, command->remaining()); }; });
  return command;
}

void add_export(CLI::App& parent, CommandContext& context) {
  auto options = std::make_shared<CacheOptions>();
  auto* command = add(parent, context, "export", "Write the records of a problem as a cache file of Kernel Tuner or as T4 results", options,
                      &run_export);
  command->add_option("--format", options->format, "kernel-tuner or t4")
      ->capture_default_str()
      ->check(CLI::IsMember({"kernel-tuner", "t4"}));
  command->add_option("--from", options->from, "A recording to export in place of the database");
  command->add_option("--policy", options->policy, "Of the records (default: cold/graph, or the recording's)");
  command->add_option("--device", options->device, "Whose records: a name or key (default: the only device that has any)");
  command->add_flag("--verified", options->verified_only, "Leave out what works and was not verified");
  command->add_option("--output,-o", options->output, "File to write, packed when it ends in .gz or .zst; -: standard output")->required();
  command->footer(
      "The problem follows as --<axis> values. Failures are exported as the nearest word of the format; docs/cli.md says which\n"
      "field comes from what.");
}

void add_import(CLI::App& parent, CommandContext& context) {
  auto options = std::make_shared<CacheOptions>();
  auto* command = add(parent, context, "import", "Make a recording of a cache file of Kernel Tuner or of T4 results", options, &run_import);
  command->add_option("--from", options->from, "The file; plain, .gz or .zst")->required();
  command->add_option("--policy", options->policy, "How it was measured (default: what attune exported says, else hot/stream)");
  command->add_option("--device", options->device,
                      "The device that it was measured on: one of the databases (name or key), or an architecture (default: the file's)");
  command->add_option("--output,-o", options->output, "Recording to write: FILE.json or FILE.json.zst")->required();
  command->footer(
      "The problem follows as --<axis> values. Searches learn from the recording (attune simulate, attune tune --strategy portfolio\n"
      "--try FILE); nothing replays it, and nothing of it is ever stored or dispatched.");
}

}  // namespace

void add_cache_command(CLI::App& app, CommandContext& context) {
  auto* command = app.add_subcommand("cache", "Convert between records and the files of other tuners: Kernel Tuner's caches and T4");
  command->require_subcommand(1);
  add_export(*command, context);
  add_import(*command, context);
}

}  // namespace attune::tools
