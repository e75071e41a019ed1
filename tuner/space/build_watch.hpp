#pragma once
#include <cstdint>
#include <functional>

#include "attune/error.hpp"

namespace attune::space {

/// How far the building of a space has come.
struct BuildProgress {
  double share = 0;         ///< of all combinations, decided: 0 to 1
  std::uint64_t found = 0;  ///< configurations in the space so far
};

/// Asked every thousand steps or so while a space is built; false stops it. Empty: nobody asks.
using BuildWatch = std::function<bool(const BuildProgress&)>;

/// A space was not built to its end because its watch said so.
class BuildStopped : public Error {
 public:
  BuildStopped() : Error("interrupted while the search space was built; nothing of it is kept", ExitCode::Interrupted) {}
};

}  // namespace attune::space
