#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "db/row_message.hpp"
#include "tuner/spec/tuning_request.hpp"

namespace attune::runtime {

/// What came of tuning one problem.
struct TuningOutcome {
  enum class Kind {
    Tuned,    ///< the result is in the database, or in `in_memory`
    Failed,   ///< `why`
    Stopped,  ///< as asked; what was measured is stored
  };
  Kind kind = Kind::Failed;
  std::string why;
  std::optional<db::TunedProblem> in_memory;  ///< no file took the result: it lives as long as the program
  std::string unpersisted_why;                ///< empty when the result is in the database
  std::vector<std::string> notices;           ///< what the process had to say
};

/// How much of the machine the tuning may take from the program.
enum class TuningPriority { Program, Background };

/// The `attune` executable: `named` (Options::worker), else $ATTUNE_WORKER, else the first that is there of: beside the
/// running program, in the prefix that attune was found in (which may have been moved), the installed one, the build tree's.
/// Throws: EnvironmentError that lists where it was looked for.
[[nodiscard]] std::filesystem::path find_tuning_worker(const std::filesystem::path& named);

/// Tunes in a process of its own, so that whatever a configuration does harms nobody, and waits for it. Asks `stop` about
/// twenty times a second; told to, the process has half a second to end in an orderly way, then it is killed.
/// Requires: the calling thread lives as long as the call (it is what the process is tied to).
/// Throws: nothing that the process did; EnvironmentError when it cannot be started.
[[nodiscard]] TuningOutcome tune_in_worker(const std::filesystem::path& worker, const spec::TuningRequest& request, TuningPriority priority,
                                           const std::function<bool()>& stop);

}  // namespace attune::runtime
