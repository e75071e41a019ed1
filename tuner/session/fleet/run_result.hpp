#pragma once
#include <string>
#include <vector>

#include "tuner/session/tune/session.hpp"
#include "tuner/spec/device_info.hpp"

namespace attune::session {

/// What equal devices came to together.
struct GroupResult {
  spec::DeviceInfo device;              ///< of one of them
  std::vector<int> ordinals;            ///< empty for a recording
  double read_ceiling_bytes_per_s = 0;  ///< 0: not known
  std::vector<ProblemResult> problems;  ///< in the order of the request
};

/// What one command came to, on one device or several.
struct RunResult {
  std::vector<GroupResult> groups;
  std::vector<GivenUp> given_up;
  bool interrupted = false;
  double wall_s = 0;
};

}  // namespace attune::session
