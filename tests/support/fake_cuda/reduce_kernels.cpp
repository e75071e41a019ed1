// The kernels of templates/reduce and templates/reproducible_reduce, as sums of f32: a host function sees addresses and sizes,
// not the element type, the operation, the transform and the finish that its kernel was compiled for. Enough for dispatch; tuning
// anything else finds wrong results.
#include <cstdint>
#include <numeric>

#include "tests/support/fake_cuda/kernels.hpp"

namespace attune::fake_cuda {
namespace {

/// What was summed last: launches of one call follow each other on one thread. It cannot go through the partial results,
/// because a host function does not see whether its configuration has any.
thread_local float last_sum = 0;

/// out[0] = the sum of `in`.
Effect sum_into(const KernelLaunch& launch, float* out) {
  const auto* const in = launch.argument<const float*>(0);
  const auto n = launch.argument<std::int64_t>(2);
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(float);
  const double us = kLaunchUs + static_cast<double>(bytes) / kBytesPerUs;
  if (!launch.may_access(out, sizeof(float)) || (n > 0 && !launch.may_access(in, bytes))) return {us, Fault::IllegalAddress};
  *out = last_sum = static_cast<float>(std::accumulate(in, in + n, 0.0));
  return {us, Fault::None};
}

/// The second kernel of two.
Effect second(const KernelLaunch& launch, float* out) {
  const std::size_t partial_bytes = launch.argument<std::uint32_t>(1) * sizeof(float);
  if (!launch.may_access(launch.argument<const float*>(0), partial_bytes) || !launch.may_access(out, sizeof(float)))
    return {kLaunchUs, Fault::IllegalAddress};
  *out = last_sum;
  return {kLaunchUs, Fault::None};
}

/// reduce_blocks, reduce_thread and reduce_reference (in, other, n, shift, scale, bias, out, ...).
Effect whole(const KernelLaunch& launch) { return sum_into(launch, launch.argument<float*>(6)); }

/// reduce_partials(partials, count, n, scale, bias, out).
Effect reduce_partials(const KernelLaunch& launch) { return second(launch, launch.argument<float*>(5)); }

/// reduce_in_order(in, other, n, shift, scale, bias, resolution, out, partials, chunks, sync).
Effect in_order(const KernelLaunch& launch) { return sum_into(launch, launch.argument<float*>(7)); }

/// reduce_chunks(partials, chunks, n, scale, bias, resolution, out).
Effect chunks(const KernelLaunch& launch) { return second(launch, launch.argument<float*>(6)); }

}  // namespace

const std::vector<RegisteredKernel>& reduce_kernels() {
  static const std::vector<RegisteredKernel> kernels = {{"reduce_blocks", whole},      {"reduce_partials", reduce_partials},
                                                        {"reduce_thread", whole},      {"reduce_reference", whole},
                                                        {"reduce_in_order", in_order}, {"reduce_chunks", chunks}};
  return kernels;
}

}  // namespace attune::fake_cuda
