#include "tuner/runtime/launching.hpp"

#include <fmt/core.h>

namespace attune::runtime {

using detail::KernelState;
using detail::PlanState;

bool is_capturing(const gpu::Driver& driver, CUstream stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  check(driver.cuStreamIsCapturing(stream, &status), "cuStreamIsCapturing", "asking whether the stream is being captured");
  return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

const PlanState& plan_for_launch(KernelState& kernel, CUcontext context, const std::int64_t* sizes, CUstream stream) {
  if (const auto* plan = kernel.find(context, sizes)) return *plan;
  if (is_capturing(kernel.runtime->driver(), stream)) {
    throw UsageError(
        fmt::format("failed launching {}: its stream is being captured and the plan is not prepared; call prepare() "
                    "with these sizes, or make a Plan, before the capture begins",
                    kernel.title(sizes)));
  }
  return kernel.runtime->plan(kernel, context, sizes);
}

void refuse_scratch_under_capture(const PlanState& plan, CUstream stream) {
  if (!is_capturing(plan.kernel->runtime->driver(), stream)) return;
  throw UsageError(
      fmt::format("failed launching {}: its stream is being captured and the plan needs {} bytes of scratch, which a "
                  "replay on another stream would share; use Plan::launch with a workspace of your own",
                  plan.kernel->title(plan.sizes.data()), plan.workspace.total_bytes));
}

void enqueue_with_scratch(const PlanState& plan, const Argument* arguments, const ScratchPool::Claim& claim, CUstream stream) {
  try {
    enqueue(plan, arguments, claim.zero(), claim.plain(), stream);
  } catch (...) {
    claim.clean(plan.kernel->runtime->driver(), stream);
    throw;
  }
}

}  // namespace attune::runtime
