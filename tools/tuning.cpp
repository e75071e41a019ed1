#include "tools/tuning.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "attune/error.hpp"
#include "tools/output.hpp"
#include "tools/problem_arguments.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/text.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/session/live_backend.hpp"
#include "tuner/session/replay_backend.hpp"

namespace attune::tools {
namespace {

using nlohmann::json;

volatile std::sig_atomic_t g_stop = 0;

extern "C" void on_stop_signal(int signal) {
  g_stop = 1;
  std::signal(signal, SIG_DFL);  // a second one ends the process at once; committed measurements are safe either way
}

void print_json(const json& event) {
  fmt::print("{}\n", event.dump(-1, ' ', false, json::error_handler_t::replace));
  std::fflush(stdout);
}

json to_json(const session::ProblemResult& result) {
  json event = {{"event", "problem"}, {"problem", json::parse(spec::to_text(result.problem))}, {"space_size", result.space_size},
                {"measured", result.measured}, {"reused", result.reused}, {"failed", result.failed},
                {"nothing_left", result.nothing_left}, {"elapsed_s", result.elapsed_s}};
  if (result.best) {
    event["best"] = {{"configuration", json::parse(result.best->configuration)}, {"median_us", result.best->median_us},
                     {"default_us", result.best->default_us}, {"tie", result.best->tie}};
  }
  return event;
}

std::unique_ptr<measure::GpuExecutor> open_gpu(const TuningOptions& options, const CommandContext& context) {
  measure::GpuExecutor::Options gpu;
  gpu.worker = context.executable;
  gpu.device = options.device.value_or(0);
  gpu.policy = measure::policy_from_text(options.policy);
  return std::make_unique<measure::GpuExecutor>(gpu);
}

ChosenBackend open_replay(const std::string& path, const std::string& reason, const spec::KernelTemplate& kernel, const std::string& policy) {
  auto backend = std::make_unique<session::ReplayBackend>(session::Recording::load(path), path, kernel);
  const auto& recording = backend->recording();
  if (recording.policy != policy) {
    throw UsageError(fmt::format("failed replaying {}: it was recorded under policy {}, not {}; give --policy {}", path, recording.policy,
                                 policy, recording.policy));
  }
  ChosenBackend chosen;
  chosen.banner = fmt::format("REPLAY, nothing is measured here{}: times come from {} ({}, driver {}, recorded {}, {})",
                              reason.empty() ? "" : " (" + reason + ")", std::filesystem::path(path).filename().string(),
                              recording.device.name, recording.device.driver, recording.date, recording.coverage);
  chosen.backend = std::move(backend);
  chosen.replay = true;
  return chosen;
}

/// The first recording of the template that was made with these sources and holds every problem.
std::optional<std::filesystem::path> fitting_recording(const spec::KernelTemplate& kernel, const std::vector<spec::Problem>& problems,
                                                       const std::string& policy) {
  for (const auto& path : recordings_of(kernel)) {
    std::optional<session::Recording> loaded;
    try {
      loaded = session::Recording::load(path);
    } catch (const SpecError& error) {  // one damaged file must not hide the others
      fmt::print(stderr, "attune: {}\n", error.what());
      continue;
    }
    const auto& recording = *loaded;
    const bool holds_all = std::all_of(problems.begin(), problems.end(), [&](const auto& problem) { return recording.find(problem) != nullptr; });
    if (recording.template_hash == kernel.content_hash && recording.policy == policy && holds_all) return path;
  }
  return std::nullopt;
}

/// Throws: UsageError.
std::chrono::milliseconds compile_deadline(const TuningOptions& options) {
  const auto deadline = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::duration<double>(base::parse_seconds(options.compile_timeout)));
  if (deadline.count() <= 0) {
    throw UsageError(fmt::format("--compile-timeout {} leaves no time to compile; give for example 60s", options.compile_timeout));
  }
  return deadline;
}

}  // namespace

int default_compile_workers() { return std::clamp(static_cast<int>(std::thread::hardware_concurrency()) - 1, 2, 8); }

void add_tuning_options(CLI::App& command, TuningOptions& options) {
  command.add_option("template", options.template_name, "Template: a built-in name or a folder with template.json")->required();
  command.add_option("--template-folder", options.template_folders, "Further folders to look for templates in")->check(CLI::ExistingDirectory);
  command.add_option("--strategy", options.strategy, "exhaustive or random")->capture_default_str();
  command.add_option("--budget", options.budget, "60s or 5m (whole command), 500 (configurations a problem), 25% (of the space)")
      ->capture_default_str();
  command.add_option("--seed", options.seed, "Seed of the strategy and the run-off")->capture_default_str()->check(CLI::NonNegativeNumber);
  command.add_option("--policy", options.policy, "cold/graph, hot/graph, cold/stream or hot/stream")->capture_default_str();
  command.add_option("--db", options.database, "Database file (default: $ATTUNE_DB, else the XDG data folder)");
  auto* device = command.add_option("--device", options.device, "GPU ordinal (default 0)");
  command.add_option("--replay", options.replay, "Take measurements from a recording instead of a GPU")->excludes(device);
  command.add_option("--compile-workers", options.compile_workers, "NVRTC worker processes")->capture_default_str()->check(CLI::Range(1, 256));
  command.add_option("--compile-timeout", options.compile_timeout, "Longest time one compilation may take: 60s, 5m")->capture_default_str();
  command.add_flag("--json", options.json, "One JSON object a line on standard output");
  command.allow_extras();
}

std::vector<std::filesystem::path> recordings_of(const spec::KernelTemplate& kernel) {
  std::vector<std::filesystem::path> folders;
  std::error_code ignored;  // a built-in template's spec_path is no file: then the folder simply is not there
  folders.push_back(std::filesystem::path(kernel.spec_path).parent_path() / "recordings");
  folders.push_back(std::filesystem::path(ATTUNE_INSTALLED_DATA) / "recordings" / kernel.name);
  folders.push_back(std::filesystem::path(ATTUNE_SOURCE_TEMPLATES) / kernel.name / "recordings");
  std::vector<std::filesystem::path> found;
  for (const auto& folder : folders) {
    if (!std::filesystem::is_directory(folder, ignored)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
      if (entry.path().string().ends_with(".json.zst")) found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

ChosenBackend choose_backend(const TuningOptions& options, const CommandContext& context, const spec::KernelTemplate& kernel,
                             const std::vector<spec::Problem>& problems) {
  if (!options.replay.empty()) return open_replay(options.replay, "", kernel, options.policy);
  std::unique_ptr<measure::GpuExecutor> gpu;
  try {
    gpu = open_gpu(options, context);
  } catch (const EnvironmentError& error) {
    if (options.device) throw;
    const auto recording = fitting_recording(kernel, problems, options.policy);
    if (!recording) {
      throw EnvironmentError(fmt::format("{}\nThere is no recording of template \"{}\" with these problems and policy {} to replay either; "
                                         "name one with --replay FILE", error.what(), kernel.name, options.policy));
    }
    return open_replay(recording->string(), "no GPU", kernel, options.policy);
  }
  session::LiveBackend::Options live;
  live.worker = context.executable;
  live.compile_workers = options.compile_workers;
  live.compile_deadline = compile_deadline(options);
  const auto cache = base::cache_folder();
  if (!cache.empty()) live.cache = cache / "cubins";
  ChosenBackend chosen;
  chosen.banner = fmt::format("Measuring on {} ({}, driver {}), {}", gpu->device().name, gpu->device().architecture, gpu->device().driver,
                              base::utc_now());
  chosen.backend = std::make_unique<session::LiveBackend>(live, std::move(gpu));
  return chosen;
}

void check_request(const TuningOptions& options, const std::vector<spec::Problem>& problems) {
  static_cast<void>(session::Budget::parse(options.budget));
  static_cast<void>(measure::policy_from_text(options.policy));
  static_cast<void>(compile_deadline(options));
  const auto strategies = search::strategy_names();
  if (std::find(strategies.begin(), strategies.end(), options.strategy) == strategies.end()) {
    throw UsageError(fmt::format("unknown strategy \"{}\"; there are {}", options.strategy, fmt::join(strategies, ", ")));
  }
  for (const auto& problem : problems) {
    for (const auto& [name, size] : problem.sizes) {
      if (size == 0) throw UsageError(fmt::format("there is nothing to tune at {} = 0; dispatch answers it without tuning", name));
    }
  }
}

session::TuneResult run_tuning(const TuningOptions& options, const spec::KernelTemplate& kernel, const std::vector<spec::Problem>& problems,
                               session::Backend& backend, db::Database& database) {
  session::TuneRequest request;
  request.problems = problems;
  request.strategy = options.strategy;
  request.seed = options.seed;
  request.budget = session::Budget::parse(options.budget);
  request.policy = measure::policy_from_text(options.policy);
  std::signal(SIGINT, on_stop_signal);
  std::signal(SIGTERM, on_stop_signal);
  ProgressLine line;
  session::Observer observer;
  observer.interrupted = [] { return g_stop != 0; };
  observer.progress = [&](const session::Progress& progress) { line.show(progress); };
  observer.notice = [&](const std::string& text) {
    line.clear();
    if (options.json) print_json({{"event", "notice"}, {"text", text}});
    else fmt::print(stderr, "attune: {}\n", text);
  };
  observer.finished = [&](const session::ProblemResult& result) {
    line.clear();
    if (options.json) print_json(to_json(result));
  };
  auto result = session::tune(kernel, request, backend, database, observer);
  line.clear();
  if (options.json) print_json({{"event", "end"}, {"interrupted", result.interrupted}, {"problems", result.problems.size()}});
  return result;
}

int exit_code_of(const session::TuneResult& result) {
  if (result.interrupted) return static_cast<int>(ExitCode::Interrupted);
  const bool all = std::all_of(result.problems.begin(), result.problems.end(), [](const auto& problem) { return problem.best.has_value(); });
  return static_cast<int>(all ? ExitCode::Ok : ExitCode::NothingValid);
}

}  // namespace attune::tools
