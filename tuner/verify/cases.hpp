#pragma once
#include <string>
#include <vector>

#include "tuner/spec/launch_plan.hpp"

namespace attune::verify {

/// One situation in which a configuration must be right.
struct CasePlan {
  std::string label;  ///< "the asked size", "a ragged size", "a misaligned input", "another number of bins", "no elements"
  spec::Problem problem;
  int misalign_elements = 0;  ///< of data buffers that promise no alignment
};

/// The asked problem first; then a ragged one (odd sizes near the asked ones), a misaligned one and, where a size may
/// be 0, an empty one; for a reference with sizes that stand alone, which the others keep, one of other such sizes. So that they are quick,
/// the further ones hold at most about 2^22 elements along all other size axes together, and where the template states its operations,
/// fewer, down to 2^12, if those were more than 2^34 operations.
[[nodiscard]] std::vector<CasePlan> plan_cases(const spec::KernelTemplate& kernel, const spec::Problem& problem,
                                               const spec::DeviceInfo& device);

/// The buffers of a problem, in template order. Data buffers must not depend on the configuration: their counts are
/// those of the default one. Scratch has count 0 here. Throws: SpecError at the place of what the problem cannot have (a file of another
/// size, a fill without numbers), EnvironmentError (counts beyond 2^48 bytes).
[[nodiscard]] std::vector<spec::ResolvedBuffer> data_buffers(const spec::KernelTemplate& kernel, const spec::Problem& problem,
                                                             const spec::DeviceInfo& device);

}  // namespace attune::verify
