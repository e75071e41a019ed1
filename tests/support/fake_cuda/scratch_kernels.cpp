// The kernels of tests/support/fake_templates/tickets and steps: sums that go through scratch memory, and notice when somebody
// else is in it or has left it dirty.
#include <atomic>
#include <cstdint>

#include "tests/support/fake_cuda/kernels.hpp"

namespace attune::fake_cuda {
namespace {

constexpr std::int64_t kScratchWasTaken = -1;

/// tickets(in, out, n, ticket, partials): out[0] = the sum of in[0..n), or -1 when `ticket` was not zero.
Effect tickets(const KernelLaunch& launch) {
  const auto* const in = launch.argument<const std::int32_t*>(0);
  auto* const out = launch.argument<std::int64_t*>(1);
  const auto n = launch.argument<std::int64_t>(2);
  auto* const ticket = launch.argument<std::uint32_t*>(3);
  auto* const partials = launch.argument<std::int64_t*>(4);
  const auto count = static_cast<std::size_t>(n);
  const bool allowed = launch.may_access(in, count * sizeof(*in)) && launch.may_access(out, sizeof(*out)) &&
                       launch.may_access(ticket, sizeof(*ticket)) && launch.may_access(partials, count * sizeof(*partials));
  if (!allowed) return {1, Fault::IllegalAddress};
  if (std::atomic_ref(*ticket).exchange(1) != 0) {
    *out = kScratchWasTaken;
    return {1, Fault::None};
  }
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < n; ++i) partials[i] = in[i];
  for (std::int64_t i = 0; i < n; ++i) sum += partials[i];
  *out = sum;
  std::atomic_ref(*ticket).store(0);
  return {1, Fault::None};
}

/// scale(in, n, added, factor, scaled, begun): scaled[i] = in[i] * factor + added, or -1 when `begun` was not zero, which is 1 now.
Effect scale(const KernelLaunch& launch) {
  const auto* const in = launch.argument<const std::int32_t*>(0);
  const auto n = static_cast<std::size_t>(launch.argument<std::int64_t>(1));
  const std::int64_t added = launch.argument<std::int32_t>(2), factor = launch.argument<std::int32_t>(3);
  auto* const scaled = launch.argument<std::int64_t*>(4);
  auto* const begun = launch.argument<std::uint32_t*>(5);
  const bool allowed =
      launch.may_access(in, n * sizeof(*in)) && launch.may_access(scaled, n * sizeof(*scaled)) && launch.may_access(begun, sizeof(*begun));
  if (!allowed) return {1, Fault::IllegalAddress};
  const bool dirty = std::atomic_ref(*begun).exchange(1) != 0;
  for (std::size_t i = 0; i < n; ++i) scaled[i] = dirty ? kScratchWasTaken : in[i] * factor + added;
  return {1, Fault::None};
}

/// add_up(scaled, n, total, begun, added, out): out[0] = total + the sum of scaled[0..n) + added; `begun` is 0 again.
Effect add_up(const KernelLaunch& launch) {
  const auto* const scaled = launch.argument<const std::int64_t*>(0);
  const auto n = static_cast<std::size_t>(launch.argument<std::int64_t>(1));
  auto* const total = launch.argument<std::int64_t*>(2);
  auto* const begun = launch.argument<std::uint32_t*>(3);
  auto* const out = launch.argument<std::int64_t*>(5);
  const bool allowed = launch.may_access(scaled, n * sizeof(*scaled)) && launch.may_access(total, sizeof(*total)) &&
                       launch.may_access(begun, sizeof(*begun)) && launch.may_access(out, sizeof(*out));
  if (!allowed) return {1, Fault::IllegalAddress};
  for (std::size_t i = 0; i < n; ++i) *total += scaled[i];
  *out = *total + launch.argument<std::int64_t>(4);
  std::atomic_ref(*begun).store(0);
  return {1, Fault::None};
}

}  // namespace

const std::vector<RegisteredKernel>& scratch_kernels() {
  static const std::vector<RegisteredKernel> kernels = {{"tickets", tickets}, {"scale", scale}, {"add_up", add_up}};
  return kernels;
}

}  // namespace attune::fake_cuda
