#pragma once
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace attune::bench {

/// One command of the `attune` executable, from start to end.
struct AttuneRun {
  std::vector<nlohmann::json> events;  ///< its --json output, a line each
  std::vector<double> event_s;         ///< when each of them came, since the start
  double wall_s = 0;
  std::int64_t parent_bytes = 0;  ///< largest resident size of the command's own process, workers not counted

  /// The only event of this name. Throws: Error when there is none, or more than one.
  [[nodiscard]] const nlohmann::json& event(const std::string& name) const;
};

/// Configurations whose record was committed as verified.
[[nodiscard]] std::uint64_t verified_records(const AttuneRun& run);

/// What the cubin cache in the scratch folder holds when a command starts.
enum class Cache { Empty, Kept };

/// Runs `attune <words> --json` with the cubin cache in `scratch`. Its standard error goes to ours.
/// Throws: Error with the exit code when it is not 0.
[[nodiscard]] AttuneRun run_attune(const std::filesystem::path& executable, std::vector<std::string> words,
                                   const std::filesystem::path& scratch, Cache kept = Cache::Empty);

/// `attune` beside this program: ../tools/attune of a build tree, or $ATTUNE_WORKER.
[[nodiscard]] std::filesystem::path attune_executable();

}  // namespace attune::bench
