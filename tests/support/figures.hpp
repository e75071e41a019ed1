#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace attune::test {

/// Keeps what a promise's test has counted: with ATTUNE_FIGURES=<folder> in the environment, <folder>/NN_<name>.json
/// becomes {"promise", "date", "figures"}; else nothing happens. docs/promises.md is generated from these files.
/// Throws: std::runtime_error when the file cannot be written: a figure that is lost unseen would leave an old one standing.
void record_figures(int promise, const std::string& name, const nlohmann::json& figures);

/// ATTUNE_CAMPAIGN=full: a test runs with the counts of its promise (1,000 kills, 10,000 bit flips). Without it with
/// counts that suit every build.
[[nodiscard]] bool full_campaign();

}  // namespace attune::test
