#pragma once
#include <string>
#include <vector>

#include "tests/support/wait_until.hpp"

namespace attune::test {

/// Processes that run (not: are dead and unreaped) whose environment has `mark` in it, and whose command line has `word`.
[[nodiscard]] std::vector<int> processes_with(const std::string& mark, const std::string& word = "");

}  // namespace attune::test
