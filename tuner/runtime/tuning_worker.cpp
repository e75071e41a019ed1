#include "tuner/runtime/tuning_worker.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <system_error>

#include "attune/error.hpp"
#include "tuner/base/cpus.hpp"
#include "tuner/base/private_path.hpp"
#include "tuner/base/process.hpp"

/// The command of the prefix that attune was found in (cmake/attuneConfig.cmake.in), or in which libattune.so lies
/// (cmake/shared_library.cpp.in).
extern "C" __attribute__((weak)) const char* const attune_found_worker;

namespace attune::runtime {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using nlohmann::json;
using std::chrono::milliseconds;

constexpr milliseconds kAskEvery{50};
constexpr milliseconds kOrderlyEnd{500};  ///< when the Runtime is being destroyed
constexpr milliseconds kUsualEnd{5000};   ///< after a result: workers and database are closed
/// Yields to the program, and still gets a quarter of a core that one of its threads keeps busy.
constexpr int kBackgroundNice = 5;

/// A process that says nothing for so long hangs: starting it, compiling and the run-off are silent, and slow where the
/// program keeps the machine busy.
std::chrono::duration<double> longest_silence(double budget_s) { return std::chrono::duration<double>(120 + 3 * budget_s); }

bool is_executable(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

std::vector<fs::path> usual_workers() {
  std::vector<fs::path> paths{ATTUNE_INSTALLED_WORKER};
#ifdef ATTUNE_BUILD_WORKER
  paths.emplace_back(ATTUNE_BUILD_WORKER);
#endif
  if (&attune_found_worker != nullptr) paths.insert(paths.begin(), attune_found_worker);
  std::error_code no_proc;  // without /proc there is one place less to look
  const fs::path program = fs::read_symlink("/proc/self/exe", no_proc);
  if (!no_proc) paths.insert(paths.begin(), program.parent_path() / "attune");
  return paths;
}

constexpr const char* kDied = "the tuning process ended without a result";

/// One conversation with a tuning process.
class Conversation {
 public:
  Conversation(const fs::path& worker, const spec::TuningRequest& request, TuningPriority priority)
      : request_(request), process_(worker, {"worker-online"}, limits_of(priority), base::WorkerOutput::Kept) {}

  /// Throws: json::exception when it spoke nonsense.
  TuningOutcome ask(const std::function<bool()>& stop) {
    if (!process_.tell(to_json(request_))) return fail(kDied);
    auto last_word = Clock::now();
    while (!ended_) {
      if (stop()) return leave();
      if (Clock::now() > last_word + longest_silence(request_.budget_s)) return fail("it gave no sign of life; it was killed");
      const base::Heard heard = process_.hear(kAskEvery);
      if (heard.died()) return fail(kDied);
      if (!heard.message_came()) continue;
      last_word = Clock::now();
      handle(heard.message);
    }
    await_end(Clock::now() + kUsualEnd, stop);
    return std::move(outcome_);
  }

  /// When the process died or spoke nonsense.
  TuningOutcome fail(const std::string& what) {
    const std::string how = process_.running() ? process_.kill_and_reap() : process_.end();
    const std::string printed = process_.output();
    outcome_.kind = TuningOutcome::Kind::Failed;
    outcome_.in_memory.reset();
    outcome_.why = fmt::format("{} ({}){}", what, how, printed.empty() ? "" : "; it printed: " + printed);
    return std::move(outcome_);
  }

 private:
  static base::WorkerLimits limits_of(TuningPriority priority) {
    base::WorkerLimits limits;
    if (priority == TuningPriority::Background) limits.nice = kBackgroundNice;
    return limits;
  }

  void handle(const json& message) {
    const std::string event = message.at("event");
    if (event == "notice") {
      outcome_.notices.push_back(message.at("text"));
    } else if (event == "unpersisted") {
      outcome_.unpersisted_why = message.at("why");
    } else if (event == "error") {
      outcome_.why = message.at("what");
      ended_ = true;
    } else if (event == "interrupted") {
      outcome_.kind = TuningOutcome::Kind::Stopped;
      ended_ = true;
    } else if (event == "finished") {
      finish(message);
    }
  }

  void finish(const json& message) {
    ended_ = true;
    outcome_.why = message.at("why_none");
    if (!outcome_.why.empty()) return;
    if (!outcome_.unpersisted_why.empty()) outcome_.in_memory = db::tuned_problem_from(message.at("tuned"));
    outcome_.kind = TuningOutcome::Kind::Tuned;
  }

  /// A process that has said its last word closes its end when it is done; one that does not is killed.
  void await_end(Clock::time_point end, const std::function<bool()>& stop) {
    while (process_.running() && Clock::now() < end && !stop()) static_cast<void>(process_.hear(kAskEvery));
  }

  TuningOutcome leave() {
    const auto end = Clock::now() + kOrderlyEnd;
    if (process_.tell({{"type", "stop"}})) {
      while (!ended_ && process_.running() && Clock::now() < end) {
        if (const base::Heard heard = process_.hear(kAskEvery); heard.message_came()) handle(heard.message);
      }
      await_end(end, [] { return false; });
    }
    outcome_.kind = TuningOutcome::Kind::Stopped;
    return std::move(outcome_);
  }

  const spec::TuningRequest& request_;
  base::WorkerProcess process_;
  TuningOutcome outcome_;
  bool ended_ = false;
};

}  // namespace

fs::path find_tuning_worker(const fs::path& named) {
  const char* const variable = ::secure_getenv("ATTUNE_WORKER");
  const bool is_named = !named.empty() || (variable != nullptr && *variable != '\0');
  std::vector<fs::path> paths;
  if (!is_named)
    paths = usual_workers();
  else
    paths = {named.empty() ? fs::path(variable) : named};
  // What nobody named runs only when nobody else could have put it there: a program may lie in a folder of everybody's.
  std::vector<std::string> texts;
  for (const auto& path : paths) {
    texts.push_back(path.string());
    if (!is_executable(path)) continue;
    const std::string reason = is_named ? std::string() : base::why_not_trusted(path);
    if (reason.empty()) return fs::absolute(path);
    texts.back() += " (not trusted: " + reason + ")";
  }
  throw EnvironmentError(
      fmt::format("failed creating a Runtime that tunes on a miss: no executable file at {}; name the attune command "
                  "with Options::worker or ATTUNE_WORKER, or leave Options::on_miss at Default",
                  fmt::join(texts, ", ")));
}

TuningOutcome tune_in_worker(const fs::path& worker, const spec::TuningRequest& request, TuningPriority priority,
                             const std::function<bool()>& stop) {
  spec::TuningRequest asked = request;
  if (priority == TuningPriority::Background) {
    asked.compile_workers = std::max(1, static_cast<int>(base::available_cpus().size()) / 4);
  }
  Conversation conversation(worker, asked, priority);
  try {
    return conversation.ask(stop);
  } catch (const json::exception& error) {
    return conversation.fail(fmt::format("the tuning process {} is not of this build: {}", worker.string(), error.what()));
  }
}

}  // namespace attune::runtime
