// attune record: brute-forces a space on a GPU (or takes what a database holds) into a recording file.
#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <memory>

#include "attune/error.hpp"
#include "tools/commands.hpp"
#include "tools/named_template.hpp"
#include "tools/output.hpp"
#include "tools/output_target.hpp"
#include "tools/problem_arguments.hpp"
#include "tools/tuning.hpp"
#include "tools/tuning_database.hpp"
#include "tools/tuning_summary.hpp"
#include "tuner/base/output_file.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/session/source/recording.hpp"
#include "tuner/session/tune/store.hpp"

namespace attune::tools {
namespace {

struct RecordOptions {
  TuningOptions tuning;
  std::string output;
};

int record(const RecordOptions& options, const CommandContext& context, const std::vector<std::string>& arguments) {
  const auto& tuning = options.tuning;
  if (!tuning.replay.empty()) throw UsageError("--replay makes no sense here: a recording is made from a GPU's measurements");
  const spec::TemplateLibrary library({tuning.template_folders.begin(), tuning.template_folders.end()});
  const auto kernel = named_template(library, tuning.template_name);
  const auto problems = problems_of(kernel, tuning.problems_file, arguments);
  check_request(tuning, problems);
  auto where = conditions_of(tuning, kernel);
  const auto path = database_path(tuning.database);
  check_output_target(options.output, path);  // before hours of measuring
  auto database = open_stoppable(path);
  print_notices(database);
  TuningOptions on_gpu = tuning;
  if (on_gpu.device.empty()) on_gpu.device = "0";  // no silent replay: a recording of a recording would carry a false date
  const auto run = run_tuning({on_gpu, context.executable, kernel, problems, path, std::move(where)}, database, BannerTo::StandardError);
  const int code = exit_code_of(run.result);
  if (run.result.interrupted) {
    base::tell("attune: interrupted; no recording is written. The same command continues.\n");
    return code;
  }
  if (!run.result.given_up.empty()) throw Error(given_up_text(run.result.given_up.front()), run.result.given_up.front().exit_code);
  if (run.result.groups.size() > 1) {
    throw UsageError(
        "failed recording: the devices differ, and a recording is of one kind; everything is measured, so the same command "
        "with one of them (--device 0) writes its recording at once");
  }
  const auto recording =
      session::extract_recording(database, kernel, problems, run.result.groups.front().device.hard_key(), tuning.policy, run.origin);
  std::string told = fmt::format("recorded {} problems of {} on {} ({}) into {}\n", recording.problems.size(), kernel.name,
                                 base::escape_line(recording.device.name), recording.coverage, options.output);
  if (const auto left_out = problems.size() - recording.problems.size(); left_out > 0) {
    told += fmt::format("left out {} of {} problems: the budget ended before anything of them was measured; the same command goes on\n",
                        left_out, problems.size());
  }
  const bool on_standard_output = base::is_standard_output(options.output);
  recording.save(options.output, throw_when_output_is_stopped);
  if (on_standard_output)
    base::tell("{}", base::Lines{told});
  else
    base::print("{}", base::Lines{told});
  return code;
}

}  // namespace

void add_record_command(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<RecordOptions>();
  auto* command = app.add_subcommand("record", "Measure a whole space (or the budget's part of it) into a recording file");
  add_tuning_options(*command, options->tuning);
  add_where_option(*command, options->tuning);
  command->add_option("--output,-o", options->output, "Recording to write: FILE.json or FILE.json.zst")->required();
  command->footer(
      "Measurements that the database already holds are taken from it. A recording replays without a GPU:\n"
      "attune tune ... --replay FILE");
  command->callback([options, command, &context] {
    context.action = [options, command, &context] { return record(*options, context, command->remaining()); };
  });
}

}  // namespace attune::tools
