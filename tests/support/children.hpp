#pragma once
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace attune::test {

/// Process ids of this process's children that have this word on their command lines and did not end, the oldest first.
inline std::vector<int> children(const std::string& word) {
  const auto contents = [](const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(file), {}};
  };
  std::vector<std::pair<std::uint64_t, int>> found;  // when it began, and its number
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    // "12 (any name) S 1 ...": the state, then the parent; the 22nd field says when it began.
    const std::string stat = contents(entry.path() / "stat");
    const std::size_t bracket = stat.rfind(')');
    if (bracket == std::string::npos) continue;  // it has ended meanwhile
    std::istringstream fields(stat.substr(bracket + 1));
    std::string state, skipped;
    int parent = 0;
    std::uint64_t began = 0;
    fields >> state >> parent;
    for (int field = 5; field < 22; ++field) fields >> skipped;
    fields >> began;
    if (parent != ::getpid() || state == "Z") continue;
    if (contents(entry.path() / "cmdline").find(word) != std::string::npos) found.emplace_back(began, std::stoi(name));
  }
  std::sort(found.begin(), found.end());
  std::vector<int> pids;
  for (const auto& [began, pid] : found) pids.push_back(pid);
  return pids;
}

}  // namespace attune::test
