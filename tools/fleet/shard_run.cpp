#include "tools/fleet/shard_run.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "attune/error.hpp"
#include "attune_build/content_hash.hpp"
#include "attune_build/version.hpp"
#include "tools/fleet/expected_time.hpp"
#include "tools/fleet/manifest.hpp"
#include "tools/fleet/node_folder.hpp"
#include "tools/fleet/plan_files.hpp"
#include "tools/fleet/publishing.hpp"
#include "tools/fleet/run_notes.hpp"
#include "tools/fleet/shard_goal.hpp"
#include "tools/fleet/shard_results.hpp"
#include "tools/named_template.hpp"
#include "tools/output.hpp"
#include "tools/problem_arguments.hpp"
#include "tools/stop_signals.hpp"
#include "tools/tuning.hpp"
#include "tools/tuning_database.hpp"
#include "tools/tuning_summary.hpp"
#include "tuner/base/hash.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/base/text.hpp"
#include "tuner/session/tune/budget.hpp"

namespace attune::tools {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Throws: UsageError.
std::size_t shard_number(const ShardRunOptions& options) {
  if (options.shard) return *options.shard;
  for (const char* name : {"SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX"}) {
    const std::string text = variable(name);
    if (text.empty()) continue;
    std::size_t number = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (fault == std::errc() && end == text.data() + text.size()) return number;
    throw UsageError(fmt::format("{} is \"{}\", which is no number of a shard; give --shard", name, text));
  }
  throw UsageError(
      "which shard? give --shard, or run it as a task of a Slurm array (SLURM_ARRAY_TASK_ID) or of an Indexed Job "
      "(JOB_COMPLETION_INDEX)");
}

fs::path scratch_parent(const ShardRunOptions& options) {
  for (const std::string& folder : {options.scratch, variable("SLURM_TMPDIR"), variable("TMPDIR")}) {
    if (!folder.empty()) return folder;
  }
  return "/tmp";
}

std::string host_name() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return host.data();
}

/// Throws: UsageError when the template is of another content; its results would be of another version than those of the other shards.
void check_content(const Manifest& manifest, const spec::KernelTemplate& kernel) {
  if (kernel.content_hash != manifest.template_hash) {
    throw UsageError(
        fmt::format("the template {} has another content here ({}) than when the fleet was planned ({}): run the attune that planned "
                    "({}, content {}; this one is {}, content {}), restore the template, or plan into a new folder",
                    kernel.name, kernel.content_hash, manifest.template_hash, manifest.attune_version, manifest.attune_content,
                    build::kVersion, build::kContentHash));
  }
  if (manifest.attune_content != build::kContentHash) {
    base::tell_message(
        fmt::format("the fleet was planned by an attune of content {}, and this one is of content {}; the template is the same",
                    manifest.attune_content, build::kContentHash));
  }
}

std::vector<spec::Problem> problems_of_shard(const fs::path& folder, const ShardEntry& entry, const spec::KernelTemplate& kernel) {
  static_cast<void>(read_shard_problems(folder, entry));
  return problems_of(kernel, (folder / entry.file).string(), {});
}

/// Copies what the plan carries to the node, and checks it there.
std::vector<std::string> carried_files(const fs::path& folder, const Manifest& manifest, const fs::path& scratch) {
  std::vector<std::string> paths;
  for (const auto& one : manifest.carried) {
    const auto refuse = [&] {
      throw EnvironmentError(
          fmt::format("failed taking what the plan carries to its nodes, {}: the file is not the one that the manifest names; the same "
                      "`attune fleet plan` writes that again",
                      (folder / one.file).string()));
    };
    const fs::path here = scratch / ("try-" + one.key + fs::path(one.file).filename().string());
    std::error_code error;
    if (!fs::exists(here, error)) {
      // Looked at before the node's disk is filled with it.
      if (fs::is_regular_file(folder / one.file, error) && fs::file_size(folder / one.file, error) != one.bytes) refuse();
      copy_whole(folder / one.file, here);
    }
    if (key_of_file(here) != one.key) {
      fs::remove(here, error);
      refuse();
    }
    paths.push_back(here.string());
  }
  return paths;
}

/// In the order of the plan.
std::vector<spec::Problem> unfinished(const db::Database& database, const Manifest& manifest, const std::vector<spec::Problem>& problems) {
  std::set<std::string> names;
  for (const auto& problem : problems) names.insert(spec::to_text(problem));
  names = unfinished_of(std::move(names), manifest, database);
  std::vector<spec::Problem> left;
  for (const auto& problem : problems) {
    if (names.contains(spec::to_text(problem))) left.push_back(problem);
  }
  return left;
}

/// A folder that cannot be written just now costs nothing yet: it is told, and the next time may do better. Returns whether there may be
/// a next time: not once another plan is there, which is told at the end.
bool try_to_publish(ShardResults& results) {
  try {
    results.publish(ShardResults::State::Partial);
  } catch (const PlanReplaced&) {
    return false;
  } catch (const Error& failure) {
    base::tell_message(fmt::format("{}; what is measured stays on this node until a copy succeeds", failure.what()));
  }
  return true;
}

void tell_state(const ShardRunOptions& options, std::size_t shard, const char* state, std::size_t left, std::size_t of) {
  if (options.json) {
    print_json({{"event", "shard"}, {"shard", shard}, {"state", state}, {"problems", of}, {"left", left}});
    base::flush_standard_output();
  } else {
    base::print("shard {}: {}, {} of {} problems left\n", shard, state, left, of);
  }
}

/// One task's work, ready to begin.
struct ShardTask {
  const ShardRunOptions& options;
  const CommandContext& context;
  const Manifest& manifest;
  const spec::KernelTemplate& kernel;
  std::size_t shard = 0;
  std::vector<spec::Problem> problems;
  std::chrono::duration<double> publish_every;
};

json run_line(const ShardTask& task, const std::vector<spec::DeviceInfo>& devices) {
  json list = json::array();
  for (const auto& device : devices) {
    list.push_back({{"name", device.name}, {"uuid", device.uuid}, {"driver", device.driver}, {"key", device.hard_key()}});
  }
  return {{"host", host_name()}, {"began", base::utc_now()}, {"shard", task.shard}, {"devices", std::move(list)}};
}

/// Tunes what is left into the node's database. Returns the exit code.
int tune_shard(const ShardTask& task, const TuningOptions& tuning, const std::vector<spec::Problem>& left, ShardResults& results) {
  auto database = open_stoppable(results.database());
  print_notices(database);
  bool is_replaced = false;
  Publishing publishing([&] { is_replaced = is_replaced || !try_to_publish(results); }, task.publish_every);
  TuningJob job{tuning, task.context.executable, task.kernel, left, results.database(), conditions_of(tuning, task.kernel)};
  job.on_devices = [&](const auto& devices) { note_run(runs_path(task.options.folder, task.shard), run_line(task, devices)); };
  job.on_record = [&] { publishing.after_record(); };
  job.on_problem = [&](const session::ProblemResult&) { publishing.after_problem(); };
  job.stop = [&] { return is_replaced; };
  const auto run = run_tuning(job, database, BannerTo::StandardOutput);
  if (!tuning.json && !is_replaced) print_summary(run.result, run.replay);  // which would say that the same command continues
  return exit_code_of(run.result);
}

fs::path node_folder(const ShardRunOptions& options, const Manifest& manifest) {
  std::error_code unknown;  // the same plan in two folders is tuned twice
  const std::string place = fs::canonical(options.folder, unknown).string();
  return NodeFolder::place(scratch_parent(options), base::content_key(manifest.key() + place));
}

/// What an earlier task left on this node of a shard that was finished elsewhere. One that is still at work keeps its own.
void tidy_node(const ShardRunOptions& options, const Manifest& manifest, std::size_t shard) {
  const fs::path place = node_folder(options, manifest);
  if (std::error_code error; !fs::exists(place, error)) return;
  try {
    const NodeFolder scratch(place, shard);
    ShardResults(options.folder, manifest, shard, scratch.path()).remove_node_files();
  } catch (const EnvironmentError&) {
    // It is in use, or somebody else's: nothing of it concerns a shard that is finished.
  }
}

int run_task(const ShardTask& task) {
  const auto& folder = task.options.folder;
  const NodeFolder scratch(node_folder(task.options, task.manifest), task.shard);
  ShardResults results(folder, task.manifest, task.shard, scratch.path());
  results.begin();
  static_cast<void>(open_stoppable(results.database()));  // makes it
  const auto still_left = [&] {
    const auto database = db::Database::open(results.database(), db::OpenMode::ReadOnly);
    return unfinished(database, task.manifest, task.problems);
  };
  auto left = still_left();
  tell_state(task.options, task.shard, left.size() == task.problems.size() ? "begins" : "goes on", left.size(), task.problems.size());
  int code = 0;
  if (!left.empty()) {
    TuningOptions tuning = task.manifest.options;
    tuning.budget = budget_of_problems(tuning.budget, left.size());
    tuning.device = task.options.device.empty() ? "0" : task.options.device;  // no silent replay where a node has lost its GPU
    tuning.compile_workers = task.options.compile_workers;
    tuning.json = task.options.json;
    tuning.also_try = carried_files(folder, task.manifest, scratch.path());
    check_request(tuning, left);
    try {
      code = tune_shard(task, tuning, left, results);
    } catch (const std::exception&) {
      static_cast<void>(try_to_publish(results));  // what was measured before it is worth keeping, and the failure what is told
      throw;
    }
    left = still_left();
  }
  results.publish(left.empty() ? ShardResults::State::Finished : ShardResults::State::Partial);
  tell_state(task.options, task.shard, left.empty() ? "finished" : "not finished", left.size(), task.problems.size());
  if (results.finished()) results.remove_node_files();
  return code;
}

}  // namespace

int run_shard(const ShardRunOptions& options, const CommandContext& context) {
  const std::chrono::duration<double> publish_every(base::parse_seconds(options.publish_every));  // a wrong one leaves nothing behind
  const auto manifest = Manifest::load(options.folder);
  const std::size_t shard = shard_number(options);
  const auto& entry = manifest.shard(shard);
  const auto& folders = manifest.options.template_folders;
  const spec::TemplateLibrary library({folders.begin(), folders.end()});
  const auto kernel = named_template(library, manifest.options.template_name);
  check_content(manifest, kernel);
  if (is_finished(options.folder, manifest, shard)) {
    tidy_node(options, manifest, shard);
    tell_state(options, shard, "was finished before", 0, entry.problems);
    return 0;
  }
  return run_task({options, context, manifest, kernel, shard, problems_of_shard(options.folder, entry, kernel), publish_every});
}

}  // namespace attune::tools
