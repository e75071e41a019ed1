#include "attune/bound_kernel.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "attune/kernel.hpp"
#include "tuner/runtime/launching.hpp"

namespace attune {

namespace detail {

struct BoundState {
  KernelState* kernel;
  CUcontext context;
  CUstream stream;
  std::optional<runtime::ScratchPool::Claim> scratch;  ///< for as long as this lives, from the first plan that needs some
  const PlanState* last = nullptr;
  std::uint64_t replacements = 0;  ///< of plans, when `last` was found

  [[nodiscard]] const PlanState& plan(const std::int64_t* sizes, std::size_t count) {
    // A plan that was found may have been replaced by a better one since.
    const std::uint64_t now = kernel->replacements.load(std::memory_order_acquire);
    if (last != nullptr && now == replacements && std::equal(last->sizes.begin(), last->sizes.end(), sizes, sizes + count)) return *last;
    kernel->check_size_count(count);
    last = &runtime::plan_for_launch(*kernel, context, sizes, stream);
    replacements = now;
    return *last;
  }

  void launch_with_scratch(const PlanState& plan, const Argument* arguments) {
    runtime::refuse_scratch_under_capture(plan, stream);
    auto& runtime = *kernel->runtime;
    const std::size_t zero = plan.workspace.zero_bytes, plain = plan.workspace.total_bytes - zero;
    if (!scratch)
      scratch.emplace(runtime.scratch.claim(runtime.driver(), context, stream, zero, plain));
    else if (!scratch->holds(zero, plain))
      runtime.scratch.enlarge(*scratch, runtime.driver(), stream, zero, plain);
    runtime::enqueue_with_scratch(plan, arguments, *scratch, stream);
  }
};

}  // namespace detail

BoundKernel::BoundKernel(std::unique_ptr<detail::BoundState> state) : state_(std::move(state)) {}
BoundKernel::BoundKernel(BoundKernel&&) noexcept = default;
BoundKernel& BoundKernel::operator=(BoundKernel&&) noexcept = default;
BoundKernel::~BoundKernel() = default;

BoundKernel Kernel::on(Stream stream) const {
  return BoundKernel(
      std::make_unique<detail::BoundState>(detail::BoundState{state_, state_->runtime->current_context(), stream, std::nullopt}));
}

void BoundKernel::launch(const std::int64_t* sizes, std::size_t size_count, const Argument* arguments, std::size_t count) {
  auto& state = *state_;
  if (state.kernel->runtime->current_context() != state.context) {
    state.kernel->check_size_count(size_count);
    throw UsageError(fmt::format("failed launching {}: it was bound to a stream in another CUDA context than the current one",
                                 state.kernel->title(sizes)));
  }
  const detail::PlanState& plan = state.plan(sizes, size_count);
  plan.signature.check(arguments, count);
  if (plan.workspace.total_bytes == 0)
    runtime::enqueue(plan, arguments, 0, 0, state.stream);
  else
    state.launch_with_scratch(plan, arguments);
}

}  // namespace attune
