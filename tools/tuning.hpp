#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/commands.hpp"
#include "tuner/session/backend.hpp"
#include "tuner/session/session.hpp"

namespace attune::tools {

/// One less than the processors, so that timing keeps one to itself; at least 2, at most 8 (the GPU is busy by then).
[[nodiscard]] int default_compile_workers();

/// Options that `tune` and `record` share.
struct TuningOptions {
  std::string template_name;
  std::vector<std::string> template_folders;
  std::string strategy = "exhaustive";
  std::string budget = "100%";
  std::uint64_t seed = 1;
  std::string policy = "cold/graph";
  std::string database;
  std::optional<int> device;
  std::string replay;
  int compile_workers = default_compile_workers();
  std::string compile_timeout = "60s";
  bool json = false;
};

void add_tuning_options(CLI::App& command, TuningOptions& options);

/// What measures: a GPU, or a recording when there is none (or one was named), and a first line that says which.
struct ChosenBackend {
  std::unique_ptr<session::Backend> backend;
  std::string banner;
  bool replay = false;
};

/// Without `--device` and `--replay` a machine without a GPU replays a shipped recording of the template.
/// Throws: EnvironmentError when there is no GPU and no recording, or the named device is not there.
[[nodiscard]] ChosenBackend choose_backend(const TuningOptions& options, const CommandContext& context,
                                           const spec::KernelTemplate& kernel, const std::vector<spec::Problem>& problems);

/// Recordings that belong to a template: `<its folder>/recordings/*.json.zst`, then the installed ones.
[[nodiscard]] std::vector<std::filesystem::path> recordings_of(const spec::KernelTemplate& kernel);

/// What can be wrong about a request without looking at a database or a device: budget, strategy, policy, n = 0.
/// Throws: UsageError.
void check_request(const TuningOptions& options, const std::vector<spec::Problem>& problems);

/// Runs with progress line, Ctrl-C handling (SIGINT and SIGTERM stop cleanly; a second one kills) and, with --json, one
/// JSON object a line on standard output.
[[nodiscard]] session::TuneResult run_tuning(const TuningOptions& options, const spec::KernelTemplate& kernel,
                                             const std::vector<spec::Problem>& problems, session::Backend& backend,
                                             db::Database& database);

/// Exit code of a finished run: NothingValid when some problem has no best, Interrupted after Ctrl-C.
[[nodiscard]] int exit_code_of(const session::TuneResult& result);

}  // namespace attune::tools
