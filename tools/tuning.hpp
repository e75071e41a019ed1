#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "db/database.hpp"
#include "tools/commands.hpp"
#include "tuner/session/fleet/device_process.hpp"
#include "tuner/session/fleet/run_result.hpp"
#include "tuner/session/tune/finalists.hpp"

namespace attune::tools {

/// Options of the commands that measure.
struct TuningOptions {
  std::string template_name;
  std::vector<std::string> template_folders;
  std::string strategy = "exhaustive";
  std::string budget = "100%";
  std::uint64_t seed = 1;
  std::string policy = "cold/graph";
  std::string database;
  std::string device;  ///< "0", "0,2", "all"; empty: 0, or a recording where there is no GPU
  std::string replay;
  std::optional<int> compile_workers;
  std::string compile_timeout = "60s";
  std::string problems_file;          ///< empty: the problems are arguments
  std::vector<std::string> also_try;  ///< databases and recordings
  std::vector<std::string> where;     ///< further conditions on configurations
  std::optional<int> finalists;       ///< at most so many of the fastest run off, beside the default
  std::optional<int> epochs;          ///< of the run-off, at most
  bool retry_failed = false;
  bool renew = false;  ///< session::TuneRequest::renew
  bool json = false;
};

/// Those of `tune`, `record` and `ladder`: what is searched, and all of add_running_options.
void add_tuning_options(CLI::App& command, TuningOptions& options);

/// How and where it runs, whatever is tuned.
void add_running_options(CLI::App& command, TuningOptions& options);

/// The option `--where`, for the commands that search.
void add_where_option(CLI::App& command, TuningOptions& options);

/// `--where`, each a condition of the template language. Throws: SpecError with the place in the text.
[[nodiscard]] std::vector<spec::Constraint> conditions_of(const TuningOptions& options, const spec::KernelTemplate& kernel);

/// `--finalists`.
[[nodiscard]] session::FinalistRule finalist_rule(const TuningOptions& options);
/// `--epochs`.
[[nodiscard]] session::Race::Options race_options(const TuningOptions& options);

/// Each device as the options say, with its share of the host (device_settings). Throws: UsageError (--compile-timeout).
[[nodiscard]] std::vector<session::DeviceSettings> settings_of(const TuningOptions& options, const std::vector<int>& ordinals);

/// What can be wrong about a request without looking at a database or a device: budget, strategy, policy, devices, n = 0.
/// Throws: UsageError.
void check_request(const TuningOptions& options, const std::vector<spec::Problem>& problems);

/// One tuning command, ready to run.
struct TuningJob {
  const TuningOptions& options;
  const std::filesystem::path& executable;
  const spec::KernelTemplate& kernel;
  const std::vector<spec::Problem>& problems;
  std::filesystem::path database_path;
  std::vector<spec::Constraint> where = {};
  /// For what goes beside the telling: before the first problem; after a record is committed; after a problem is decided.
  std::function<void(const std::vector<spec::DeviceInfo>&)> on_devices = {};
  std::function<void()> on_record = {};
  std::function<void(const session::ProblemResult&)> on_problem = {};
  /// Stops the run as Ctrl-C does once it is true; asked often.
  std::function<bool()> stop = {};
};

struct TuningRun {
  session::RunResult result;
  std::string origin;  ///< of its records
  bool replay = false;
};

/// Which output tells what is about to be tuned: a command whose result is on standard output says it elsewhere.
enum class BannerTo { StandardOutput, StandardError };

/// What `--device` names. Throws: UsageError; EnvironmentError when "all" are none.
[[nodiscard]] std::vector<int> ordinals_of(const TuningOptions& options, const std::filesystem::path& executable);

/// Tunes on one device in this process, on several with a process each. Progress and Ctrl-C handling included (SIGINT and
/// SIGTERM stop cleanly; a second one kills); with --json one JSON object a line on standard output, else a line about
/// the devices on `banner` before it starts.
/// Throws: what opening devices throws; UsageError, SpecError, DatabaseError.
[[nodiscard]] TuningRun run_tuning(const TuningJob& job, db::Database& database, BannerTo banner);

/// Exit code of a finished run: Interrupted after Ctrl-C, that of the first problem that was given up, NothingValid when
/// some problem has no best.
[[nodiscard]] int exit_code_of(const session::RunResult& result);

}  // namespace attune::tools
