#pragma once
#include <cstdint>

#include "tuner/spec/kernel_template.hpp"

namespace attune::spec {

/// What a template states ("work") of one problem: for GB/s and GFLOP/s. 0: it does not state it.
struct StatedWork {
  std::int64_t bytes = 0;       ///< that must move
  std::int64_t operations = 0;  ///< that must be computed
};

/// In the scope of a configured problem; fractions are rounded. Throws: SpecError at the expression's place in template.json.
[[nodiscard]] StatedWork stated_work(const KernelTemplate& kernel, const Scope& scope);

}  // namespace attune::spec
