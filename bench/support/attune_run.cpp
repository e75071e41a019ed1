#include "bench/support/attune_run.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <set>

#include "attune/error.hpp"
#include "bench/support/child.hpp"
#include "tuner/base/file_descriptor.hpp"
#include "tuner/base/json.hpp"

namespace attune::bench {
namespace {

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

std::uint64_t verified_records(const AttuneRun& run) {
  std::set<std::string> verified;
  for (const auto& event : run.events) {
    if (event.at("event") == "record" && event.at("verified").get<bool>()) {
      verified.insert(base::dump_json(event.at("problem")) + base::dump_json(event.at("configuration")));
    }
  }
  return verified.size();
}

AttuneRun run_attune(const std::filesystem::path& executable, std::vector<std::string> words, const std::filesystem::path& scratch,
                     Cache kept) {
  const auto cache = scratch / "cache";
  if (kept == Cache::Empty) std::filesystem::remove_all(cache);
  words.insert(words.begin(), executable.string());
  words.emplace_back("--json");
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw Error("failed running attune: no pipe");
  base::FileDescriptor reading(ends[0]), writing(ends[1]);
  const auto started = std::chrono::steady_clock::now();
  const auto since_start_s = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count(); };
  const pid_t pid = start(words, writing.get(), {"XDG_CACHE_HOME=" + cache.string()}, "; name it in ATTUNE_WORKER");
  writing.close();
  std::string text;
  char chunk[65536];
  AttuneRun run;
  for (ssize_t got = 0; (got = ::read(reading.get(), chunk, sizeof chunk)) > 0;) {
    text.append(chunk, static_cast<std::size_t>(got));
    run.event_s.insert(run.event_s.end(), static_cast<std::size_t>(std::count(chunk, chunk + got, '\n')), since_start_s());
    run.parent_bytes = std::max(run.parent_bytes, peak_bytes(pid));
  }
  wait_for(pid, words);
  run.wall_s = since_start_s();
  run.events = events_of(text);
  return run;
}

std::filesystem::path attune_executable() {
  if (const char* named = std::getenv("ATTUNE_WORKER")) return named;
  return std::filesystem::canonical("/proc/self/exe").parent_path().parent_path() / "tools" / "attune";
}

}  // namespace attune::bench
