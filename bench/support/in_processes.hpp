#pragma once
#include <string>
#include <vector>

#include "bench/support/json.hpp"

namespace attune::bench {

// Where code and data lie in memory moves what is measured within one process, by more than the interval within it tells.

/// Runs this program in `processes` processes, one after the other, with `words` and `--processes 1 --output <a folder that goes>`, and
/// returns the result file <bench>.json of each. What they print goes to standard error. Throws: Error when one does not end with 0 or
/// writes no file.
[[nodiscard]] std::vector<Json> results_of_processes(int processes, const std::vector<std::string>& words, const std::string& bench);

/// Result files of equal rows as one: every figure that is not whole is the median of them all; `X_interval` is the
/// distribution-free 95 % interval of the median X (the least and the most where they are fewer than six); the rest is the same in all but
/// for "date", which is the first's. Requires: at least one file. Throws: Error naming what differs.
[[nodiscard]] Json medians_of(const std::vector<Json>& files);

}  // namespace attune::bench
