#pragma once
#include <string>

#include "tuner/session/source/recording.hpp"

namespace attune::simulate {

/// How a failure is called elsewhere: Kernel Tuner knows three, T4 five.
struct FailureWords {
  const char* kernel_tuner;
  const char* t4;
};

/// The nearest words. Requires: outcome is not Ok.
[[nodiscard]] FailureWords words_for(measure::Outcome outcome);

/// The failure that a word of either format means; LaunchFailed for one that is not known, since it did not run.
[[nodiscard]] measure::Outcome failure_named(const std::string& word);

}  // namespace attune::simulate
