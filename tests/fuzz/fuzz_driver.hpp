#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tests/fuzz/mutator.hpp"

namespace attune::test {

/// What a target says of its format.
struct FuzzFormat {
  FormatChanges changes = {};
  double deadline_s = 10;  ///< of one input, unless --deadline says otherwise
};

/// Reads one input. Returning means accepted, throwing attune::Error means refused; anything else that is thrown (a broken
/// promise too: throw std::logic_error) is a finding, as are a crash, a sanitizer's report and an input that takes too long.
using FuzzTarget = std::function<void(const std::string& input)>;

/// The main function of a fuzzer: `return fuzz_main(argc, argv, "expression", corpus, dictionary, target);`.
/// Inputs are every entry of the corpus, every word of the dictionary repeated up to the greatest size, then mutations
/// (tests/fuzz/mutator.hpp) until a count or a time is reached. An input whose refusal reads differently from all before joins the corpus.
/// They run in a child process, so that a crash names its input: findings are written to files, and the run goes on behind them.
///
/// Arguments: --seed N (1), --iterations N (no limit), --seconds S (ATTUNE_FUZZ_SECONDS, else 4; 1,800 where ATTUNE_CAMPAIGN is full; 0 is
/// no limit),
///            --cpu-seconds S (no limit; of each child, so that a run beside other work does as much), --deadline S (10 or what the format
///            says, CPU time of one input; five times that under a sanitizer), --memory MiB (4,096; not under a sanitizer), --max-bytes N
///            (65,536), --findings FOLDER (fuzz_findings), --output FILE (the figures as well, behind those of earlier runs), FILE... (runs
///            these inputs alone, in this process: for a debugger).
/// Prints the figures as one line of JSON: target, seed, seconds, cpu_seconds, inputs, accepted, refused, refusals (different ones),
///            slowest_cpu_ms, largest_bytes, findings (list of {"what", "file"}).
/// Returns: 0 without findings, 1 with some, 2 for arguments that make no sense.
/// Requires: no threads before the call. A target with files of its own has its TempFolder made before it, too.
int fuzz_main(int argc, char** argv, const std::string& name, std::vector<std::string> corpus, std::vector<std::string> dictionary,
              const FuzzTarget& target, const FuzzFormat& format = {});

/// The bytes of every file in a folder and below, sorted by path. Throws: std::runtime_error when there is none: a fuzzer without
/// its corpus tests little, and would not say so.
[[nodiscard]] std::vector<std::string> files_below(const std::filesystem::path& folder);

}  // namespace attune::test
