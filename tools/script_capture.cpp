#include "tools/script_capture.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "attune/error.hpp"
#include "tools/installed_data.hpp"
#include "tools/process_group.hpp"
#include "tools/stop_signals.hpp"
#include "tuner/base/errno_text.hpp"
#include "tuner/base/file_descriptor.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/json.hpp"

namespace attune::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kUnreadable = 2, kNoNumpy = 4;  // exit codes of import_script.py; 3: nothing was caught

/// Why others could have decided what an installed Python program and its imports do; empty when nobody could. Links are refused: what a
/// linked program imports lies elsewhere.
std::string why_not_run(const fs::path& folder) {
  std::string reason = why_not_of_the_installation(folder);
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error);
  for (; reason.empty() && !error && entry != fs::recursive_directory_iterator(); entry.increment(error))
    reason = fs::is_symlink(entry->symlink_status())
                 ? "'" + entry->path().string() + "' is a symbolic link; put in its place what it leads to"
                 : why_not_of_the_installation(entry->path());
  return error ? "failed reading '" + folder.string() + "': " + error.message() : reason;
}

/// The program that runs the script, of the source tree or installed.
fs::path driver() {
  // As much the developer's as the program that is built from it.
  if (const fs::path source = source_tree(); !source.empty()) return source / "tools/python/import_script.py";
  std::vector<std::string> texts;
  for (const auto& installed : installed_data_folders()) {
    const fs::path folder = installed / "python", program = folder / "import_script.py";
    std::error_code ignored;  // what cannot be looked at is not there
    texts.push_back(folder.string());
    if (!fs::is_regular_file(program, ignored)) continue;
    if (const std::string reason = why_not_run(folder); !reason.empty()) {
      throw EnvironmentError(fmt::format(
          "failed importing a script: {} is not run, because others could have written it or what it imports: {}; or install attune in a "
          "folder that is yours alone",
          program.string(), reason));
    }
    return program;
  }
  throw EnvironmentError(
      fmt::format("failed importing a script: there is no import_script.py in {}; install attune again", fmt::join(texts, " or ")));
}

std::string interpreter() {
  const char* named = std::getenv("ATTUNE_PYTHON");
  return named != nullptr && *named != '\0' ? named : "python3";
}

/// The status of the leader of a process group, which is ended when this process is asked to stop: politely, then by force.
int wait_for_group(pid_t leader) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kLook = std::chrono::milliseconds(20), kPatience = std::chrono::milliseconds(2000);
  std::optional<Clock::time_point> asked;
  int status = 0;
  for (;;) {
    const pid_t ended = waitpid(leader, &status, WNOHANG);
    if (ended == leader || (ended < 0 && errno != EINTR)) break;
    if (stop_asked() && !asked) {
      asked = Clock::now();
      kill(-leader, SIGTERM);
    }
    if (asked && Clock::now() - *asked > kPatience) kill(-leader, SIGKILL);
    std::this_thread::sleep_for(kLook);
  }
  kill(-leader, SIGKILL);  // what it has started and left behind
  return status;
}

int code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

/// Its exit code, or 128 and the signal that ended it. Its standard output goes to `output`.
int run(const std::vector<std::string>& words, const fs::path& output) {
  const base::FileDescriptor told(::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!told.open()) throw EnvironmentError(fmt::format("failed writing {}: {}", output.string(), base::errno_text("open", errno)));
  const StartedGroup started = start_group(words, {.output = told.get(), .input = ::isatty(STDIN_FILENO) != 1, .errors = true});
  if (started.failure != 0) {
    throw EnvironmentError(
        fmt::format("failed starting {}: {}; a script needs Python 3.9 or newer: install python3, or name the interpreter in "
                    "$ATTUNE_PYTHON",
                    words[0], base::errno_text("posix_spawnp", started.failure)));
  }
  return code_of(wait_for_group(started.leader));
}

/// "SyntaxError: ...; mend it there"
std::string text_of(const json& error) {
  const std::string remedy = error.at("remedy");
  return fmt::format("{}: {}{}{}", error.at("kind").get<std::string>(), error.at("text").get<std::string>(), remedy.empty() ? "" : "; ",
                     remedy);
}

/// "tune.py:7:3: "
std::string place_of(const json& error) {
  std::string place = error.at("file");
  for (const char* part : {"line", "column"})
    if (const int number = error.at(part); number > 0) place += fmt::format(":{}", number);
  return place + ": ";
}

std::vector<std::string> texts(const json& list) { return list.get<std::vector<std::string>>(); }

CapturedScript read_told(const fs::path& script, int code, const json& told) {
  const json& error = told.at("error");
  const std::string ended = error.is_null() ? "" : place_of(error) + text_of(error);
  CapturedScript captured{{}, ended};
  for (const json& call : told.at("calls")) {
    auto notes = texts(call.at("taken"));
    for (const auto& note : texts(call.at("notes"))) notes.push_back(note);
    captured.calls.push_back({call.at("kernel"), call.at("file").get<std::string>(), std::move(notes), texts(call.at("problems"))});
  }
  if (!captured.calls.empty()) return captured;
  if (code == kUnreadable) throw SpecError(script.string(), error.at("line"), error.at("column"), text_of(error));
  if (code == kNoNumpy) throw EnvironmentError("failed importing: " + ended);
  const std::string runs =
      told.at("runs").get<int>() > 0 ? "it calls run_kernel only, which tunes nothing" : "it does not call tune_kernel";
  throw UsageError(fmt::format("failed importing {}: {}{}", script.string(), runs, ended.empty() ? "" : " before it ended: " + ended));
}

}  // namespace

CapturedScript capture_script(const fs::path& script, const std::vector<std::string>& arguments, const fs::path& folder,
                              std::int64_t largest_array_mib) {
  const fs::path output = folder / "told";
  std::vector<std::string> words{interpreter(),   driver().string(), "--json", "--largest-array", std::to_string(largest_array_mib),
                                 script.string(), folder.string(),   "--"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  stop_on_signals();
  const int code = run(words, output);
  end_on_signals();
  const std::string told = base::read_file(output);
  if (told.empty()) {
    throw UsageError(
        fmt::format("failed importing {}: the script's process ended with code {} before it could tell what the script tunes; does "
                    "it end the interpreter itself, as os._exit does?",
                    script.string(), code));
  }
  try {
    return read_told(script, code, base::parse_json(told));
  } catch (const json::exception& error) {
    throw Error(fmt::format("failed importing {}: import_script.py ended with code {} and told what is not understood: {}", script.string(),
                            code, error.what()));
  }
}

}  // namespace attune::tools
