#pragma once
#include "tuner/runtime/state.hpp"

namespace attune::runtime {

/// Throws: CudaError.
[[nodiscard]] bool is_capturing(const gpu::Driver& driver, CUstream stream);

/// The plan of a launch: nothing is looked up, compiled or loaded while the stream is being captured.
/// Throws: UsageError under capture, and what building a plan throws.
[[nodiscard]] const detail::PlanState& plan_for_launch(detail::KernelState& kernel, CUcontext context, const std::int64_t* sizes,
                                                       CUstream stream);

/// Refuses a launch with the Runtime's scratch on a stream that is being captured. Throws: UsageError.
void refuse_scratch_under_capture(const detail::PlanState& plan, CUstream stream);

/// Counts the launch and puts the plan onto the stream. `zero` and `plain` as for PlanState::enqueue. Throws: CudaError.
inline void enqueue(const detail::PlanState& plan, const Argument* arguments, CUdeviceptr zero, CUdeviceptr plain, CUstream stream) {
  auto& runtime = *plan.kernel->runtime;
  // Counted first: behind the driver's last store, which goes to the device, an atomic addition may have to wait for that.
  runtime.launches.add();
  plan.enqueue(arguments, zero, plain, stream);
}

/// Does so with claimed scratch, which is clean again whatever happens. Throws: CudaError.
void enqueue_with_scratch(const detail::PlanState& plan, const Argument* arguments, const ScratchPool::Claim& claim, CUstream stream);

}  // namespace attune::runtime
