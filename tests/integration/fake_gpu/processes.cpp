#include "tests/integration/fake_gpu/processes.hpp"

#include <fstream>
#include <iterator>
#include <thread>

#include "tests/support/children.hpp"

namespace attune::test {

std::vector<int> processes_with(const std::string& mark, const std::string& word) {
  std::vector<int> found;
  for (const std::string& id : process_ids()) {
    std::ifstream file("/proc/" + id + "/environ", std::ios::binary);
    if (std::string{std::istreambuf_iterator<char>(file), {}}.find(mark) == std::string::npos) continue;
    const ProcessStatus status = ProcessStatus::of(id);
    if (status.runs && status.words.find(word) != std::string::npos) found.push_back(std::stoi(id));
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
