#pragma once
#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace attune::test {

/// Processes that run (not: are dead and unreaped) whose environment has `mark` in it, and whose command line has `word`.
[[nodiscard]] std::vector<int> processes_with(const std::string& mark, const std::string& word = "");

/// Waits until `condition` holds; false when it does not within `most`.
[[nodiscard]] bool wait_until(const std::function<bool()>& condition, std::chrono::milliseconds most = std::chrono::seconds(60));

}  // namespace attune::test
