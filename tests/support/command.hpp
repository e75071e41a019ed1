#pragma once
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace attune::test {

struct CommandResult {
  int exit_code = 0;  ///< 128 + signal when it was killed
  std::string out;
  std::string err;
};

/// Runs a program to its end, with `environment` on top of ours, and collects both outputs.
[[nodiscard]] CommandResult run(const std::vector<std::string>& words, const std::map<std::string, std::string>& environment = {});

/// Starts a program and leaves it running; standard output goes to the end of a file, errors to that of one
/// named so with ".err" (/dev/null: neither is kept). For killing it.
[[nodiscard]] int start(const std::vector<std::string>& words, const std::map<std::string, std::string>& environment = {},
                        const std::string& output = "/dev/null");
/// Waits for a started program; same exit codes as `run`.
int wait_for(int pid);
/// The same, if it ends within `most`.
[[nodiscard]] std::optional<int> wait_for(int pid, std::chrono::duration<double> most);

}  // namespace attune::test
