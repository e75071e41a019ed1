#include "tests/integration/fake_gpu/processes.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

namespace attune::test {
namespace {

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The field behind the command's name, which may hold anything, even ")".
bool dead(const std::filesystem::path& process) {
  const std::string text = contents(process / "stat");
  const std::size_t end = text.rfind(") ");
  return end == std::string::npos || text[end + 2] == 'Z' || text[end + 2] == 'X';
}

}  // namespace

std::vector<int> processes_with(const std::string& mark, const std::string& word) {
  std::vector<int> found;
  std::error_code ignored;  // processes end while they are looked at
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename();
    if (!std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; })) continue;
    if (contents(entry.path() / "environ").find(mark) == std::string::npos) continue;
    if (contents(entry.path() / "cmdline").find(word) == std::string::npos) continue;
    if (!dead(entry.path())) found.push_back(std::stoi(name));
  }
  return found;
}

bool wait_until(const std::function<bool()>& condition, std::chrono::milliseconds most) {
  const auto end = std::chrono::steady_clock::now() + most;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace attune::test
