#include "tests/integration/fake_gpu/processes.hpp"

#include <fstream>
#include <iterator>

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

}  // namespace attune::test
