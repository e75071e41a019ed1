#include "tuner/simulate/failure_words.hpp"

#include <array>

namespace attune::simulate {
namespace {

using measure::Outcome;

struct FailureRow {
  Outcome outcome;
  FailureWords words;
};

/// For each word the failure that it means most likely comes first. Kernel Tuner says InvalidConfig for what a device has not the threads
/// or the shared memory for, and has no word for a wrong result: it ends then.
constexpr std::array<FailureRow, 6> kFailureRows = {{{Outcome::CompileFailed, {"CompilationFailedConfig", "compile"}},
                                                     {Outcome::ExceedsLimits, {"InvalidConfig", "constraints"}},
                                                     {Outcome::LaunchFailed, {"RuntimeFailedConfig", "runtime"}},
                                                     {Outcome::WrongResult, {"RuntimeFailedConfig", "correctness"}},
                                                     {Outcome::Crashed, {"RuntimeFailedConfig", "runtime"}},
                                                     {Outcome::TimedOut, {"RuntimeFailedConfig", "timeout"}}}};

}  // namespace

FailureWords words_for(Outcome outcome) {
  for (const FailureRow& row : kFailureRows)
    if (row.outcome == outcome) return row.words;
  return kFailureRows[2].words;
}

Outcome failure_named(const std::string& word) {
  for (const FailureRow& row : kFailureRows)
    if (word == row.words.kernel_tuner || word == row.words.t4) return row.outcome;
  return Outcome::LaunchFailed;
}

}  // namespace attune::simulate
