// The kernel of tests/support/fake_templates/tickets: a sum that goes through scratch memory, and notices when somebody
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
                       launch.may_access(ticket, sizeof(*ticket)) &&
                       launch.may_access(partials, count * sizeof(*partials));
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

}  // namespace

const std::vector<RegisteredKernel>& scratch_kernels() {
  static const std::vector<RegisteredKernel> kernels = {{"tickets", tickets}};
  return kernels;
}

}  // namespace attune::fake_cuda
