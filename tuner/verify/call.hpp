#pragma once
#include "tuner/gpu/bound_steps.hpp"
#include "tuner/verify/buffer_layout.hpp"

namespace attune::verify {

/// One call of a configured problem, bound to a module, ready for any set of addresses: the steps that dispatch launches, with the scalars
/// that tuning passes.
class Call {
 public:
  /// Throws: Error (arguments differ from the compiled kernel), CudaError (an attribute is refused).
  Call(const spec::LaunchPlan& plan, const gpu::Module& module);

  /// Puts the whole call on the stream. `addresses`: of the plan's buffers, in its order. Throws: CudaError naming the kernel.
  void enqueue(const Addresses& addresses, CUstream stream) const { gpu::enqueue(steps_, {addresses.data(), nullptr}, stream); }
  /// Nodes of a captured graph.
  [[nodiscard]] std::size_t steps() const noexcept { return steps_.size(); }

 private:
  gpu::BoundSteps steps_;
};

}  // namespace attune::verify
