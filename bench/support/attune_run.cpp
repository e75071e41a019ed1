#include "bench/support/attune_run.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>

#include "attune/error.hpp"
#include "tuner/base/json.hpp"

extern char** environ;

namespace attune::bench {
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (auto& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> environment_with_cache(const std::filesystem::path& cache) {
  std::vector<std::string> merged{"XDG_CACHE_HOME=" + cache.string()};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!std::string(*entry).starts_with("XDG_CACHE_HOME=")) merged.emplace_back(*entry);
  }
  return merged;
}

std::vector<nlohmann::json> events_of(const std::string& text) {
  std::vector<nlohmann::json> events;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    events.push_back(base::parse_json(text.substr(start, end - start)));
    start = end + 1;
  }
  return events;
}

/// Largest resident size so far of a running process. Not from its resource usage: that counts what this process held when it
/// spawned the other.
std::int64_t peak_bytes(pid_t pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::int64_t{1024} * std::strtoll(line.c_str() + 6, nullptr, 10);
  }
  return 0;  // it has ended
}

}  // namespace

const nlohmann::json& AttuneRun::event(const std::string& name) const {
  const auto is = [&](const nlohmann::json& event) { return event.at("event") == name; };
  if (std::count_if(events.begin(), events.end(), is) != 1) {
    throw Error(fmt::format("failed reading a run: it has no event \"{}\", or more than one", name));
  }
  return *std::find_if(events.begin(), events.end(), is);
}

AttuneRun run_attune(const std::filesystem::path& executable, std::vector<std::string> words, const std::filesystem::path& scratch, Cache kept) {
  const auto cache = scratch / "cache";
  if (kept == Cache::Empty) std::filesystem::remove_all(cache);
  words.insert(words.begin(), executable.string());
  words.emplace_back("--json");
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw Error("failed running attune: no pipe");
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  auto environment = environment_with_cache(cache);
  const auto start = std::chrono::steady_clock::now();
  pid_t pid = 0;
  const int failed = ::posix_spawn(&pid, executable.c_str(), &actions, nullptr, pointers(words).data(), pointers(environment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (failed != 0) throw EnvironmentError(fmt::format("failed starting {}; name it in ATTUNE_WORKER", executable.string()));
  std::string text;
  char chunk[65536];
  AttuneRun run;
  for (ssize_t got = 0; (got = ::read(ends[0], chunk, sizeof chunk)) > 0;) {
    text.append(chunk, static_cast<std::size_t>(got));
    run.parent_bytes = std::max(run.parent_bytes, peak_bytes(pid));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(pid, &status, 0);
  run.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw Error(fmt::format("failed running {}: it ended with {} {}", fmt::join(words, " "), WIFEXITED(status) ? "exit code" : "signal",
                            WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status)));
  }
  run.events = events_of(text);
  return run;
}

std::filesystem::path attune_executable() {
  if (const char* named = std::getenv("ATTUNE_WORKER")) return named;
  return std::filesystem::canonical("/proc/self/exe").parent_path().parent_path() / "tools" / "attune";
}

}  // namespace attune::bench
