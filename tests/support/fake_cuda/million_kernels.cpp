// The kernels of bench/templates/million: a copy that doubles, and its reference.
#include <cmath>
#include <cstdint>

#include "tests/support/fake_cuda/kernels.hpp"

namespace attune::fake_cuda {
namespace {

/// out[i] = 2 * in[i]; 20 us with as many threads as values, more the further their number is from that.
Effect twice(const KernelLaunch& launch) {
  const auto* const in = launch.argument<const float*>(0);
  auto* const out = launch.argument<float*>(1);
  const auto n = launch.argument<std::int64_t>(2);
  const double threads = static_cast<double>(launch.grid.x) * launch.block.x;
  const double us = 20 * (1 + 0.1 * std::abs(std::log2(threads / static_cast<double>(n))));
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(float);
  if (!launch.may_access(in, bytes) || !launch.may_access(out, bytes)) return {us, Fault::IllegalAddress};
  for (std::int64_t i = 0; i < n; ++i) out[i] = 2 * in[i];
  return {us, Fault::None};
}

}  // namespace

const std::vector<RegisteredKernel>& million_kernels() {
  static const std::vector<RegisteredKernel> kernels = {{"twice", twice}, {"twice_plainly", twice}};
  return kernels;
}

}  // namespace attune::fake_cuda
