#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

namespace attune::bench {

/// Starts the program words[0] with the other words, its standard output on this descriptor. `environment`: "NAME=value" that replace or
/// join ours. Throws: EnvironmentError naming the program, with `remedy` as its end.
[[nodiscard]] pid_t start(std::vector<std::string> words, int standard_output, const std::vector<std::string>& environment = {},
                          const char* remedy = "");

/// Waits for its end. Throws: Error with the words, and the exit code or signal, unless it ended with 0.
void wait_for(pid_t pid, const std::vector<std::string>& words);

}  // namespace attune::bench
