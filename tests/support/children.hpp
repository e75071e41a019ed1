#pragma once
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace attune::test {

/// What /proc tells of a process.
struct ProcessStatus {
  int parent = 0;  ///< 0: the process has ended meanwhile
  bool runs = false;
  std::uint64_t began = 0;
  std::string words;  ///< its command line; empty for a moment after it was spawned

  static ProcessStatus of(const std::string& pid) {
    const auto contents = [&](const char* name) {
      std::ifstream file("/proc/" + pid + "/" + name, std::ios::binary);
      return std::string{std::istreambuf_iterator<char>(file), {}};
    };
    // "12 (any name) S 1 ...": the state, then the parent; the 22nd field says when it began.
    const std::string stat = contents("stat");
    const std::size_t bracket = stat.rfind(')');
    if (bracket == std::string::npos) return {};
    std::istringstream fields(stat.substr(bracket + 1));
    std::string state, skipped;
    ProcessStatus status;
    fields >> state >> status.parent;
    for (int field = 5; field < 22; ++field) fields >> skipped;
    fields >> status.began;
    status.runs = state != "Z" && state != "X";
    status.words = contents("cmdline");
    return status;
  }
};

/// The numbers of all processes.
inline std::vector<std::string> process_ids() {
  std::vector<std::string> ids;
  std::error_code ignored;  // processes end while they are looked at
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") == std::string::npos) ids.push_back(name);
  }
  return ids;
}

/// Process ids of this process's children that have this word on their command lines and did not end, the oldest first.
inline std::vector<int> children(const std::string& word) {
  std::vector<std::pair<std::uint64_t, int>> found;  // when it began, and its number
  for (const std::string& name : process_ids()) {
    ProcessStatus status = ProcessStatus::of(name);
    while (status.parent == ::getpid() && status.runs && status.words.empty()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      status = ProcessStatus::of(name);
    }
    if (status.parent == ::getpid() && status.runs && status.words.find(word) != std::string::npos)
      found.emplace_back(status.began, std::stoi(name));
  }
  std::sort(found.begin(), found.end());
  std::vector<int> pids;
  for (const auto& [began, pid] : found) pids.push_back(pid);
  return pids;
}

}  // namespace attune::test
