// The kernels of templates/reduce, as sums of f32: a host function sees addresses and sizes, not the element type and the
// operation that its kernel was compiled for. Enough for dispatch; tuning another type or operation finds wrong results.
#include <algorithm>
#include <cstdint>
#include <numeric>

#include "tests/support/fake_cuda/kernels.hpp"

namespace attune::fake_cuda {
namespace {

constexpr double kBytesPerUs = 4e6;

/// reduce_blocks(in, n, out, partials, sync). Where there is a second kernel, it finds the sum in the first partial result.
Effect blocks(const KernelLaunch& launch) {
  const auto* const in = launch.argument<const float*>(0);
  const auto n = launch.argument<std::int64_t>(1);
  auto* const out = launch.argument<float*>(2);
  auto* const partials = launch.argument<float*>(3);
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(float);
  const double us = 2 + static_cast<double>(bytes) / kBytesPerUs;
  if (!launch.may_access(out, sizeof(float)) || (n > 0 && !launch.may_access(in, bytes))) return {us, Fault::IllegalAddress};
  const double sum = std::accumulate(in, in + n, 0.0);
  *out = static_cast<float>(sum);
  const std::size_t partial_bytes = launch.grid.x * sizeof(float);
  if (partials != nullptr && launch.may_access(partials, partial_bytes)) {
    std::fill_n(partials, launch.grid.x, 0.0f);
    partials[0] = *out;
  }
  return {us, Fault::None};
}

/// reduce_partials(partials, count, out).
Effect partials(const KernelLaunch& launch) {
  const auto* const values = launch.argument<const float*>(0);
  const auto count = launch.argument<std::uint32_t>(1);
  auto* const out = launch.argument<float*>(2);
  if (!launch.may_access(values, count * sizeof(float)) || !launch.may_access(out, sizeof(float))) return {2, Fault::IllegalAddress};
  *out = static_cast<float>(std::accumulate(values, values + count, 0.0));
  return {2, Fault::None};
}

}  // namespace

const std::vector<RegisteredKernel>& reduce_kernels() {
  static const std::vector<RegisteredKernel> kernels = {{"reduce_blocks", blocks}, {"reduce_partials", partials}};
  return kernels;
}

}  // namespace attune::fake_cuda
