#pragma once
#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "attune/runtime.hpp"
#include "tuner/gpu/handles.hpp"
#include "tuner/runtime/arguments.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace attune::runtime {

/// gpu::check for the hot path: the description becomes a std::string, which allocates, only when something failed.
inline void check(CUresult result, const char* call, const char* what) {
  if (result != CUDA_SUCCESS) [[unlikely]]
    gpu::check(result, call, what);
}

struct MemsetStep {
  int buffer = 0;
  unsigned char byte = 0;
  std::size_t bytes = 0;
};

/// Copies a caller's buffer into the __constant__ variable that stands for it.
struct ConstantStep {
  int buffer = 0;
  CUdeviceptr variable = 0;
  std::size_t bytes = 0;
};

using Step = std::variant<gpu::BoundLaunch, MemsetStep, ConstantStep>;

/// Steps of a resolved plan over loaded code: constant copies, `zero_each` memsets, then the template's own steps.
/// Throws: SpecError-like Error (kernel or variable missing, argument sizes), CudaError.
[[nodiscard]] std::vector<Step> bind_steps(const spec::LaunchPlan& plan, const gpu::Module& module);

}  // namespace attune::runtime

namespace attune::detail {

/// A configured, loaded problem in one context. Immutable after building: any thread may launch it.
struct PlanState {
  KernelState* kernel = nullptr;
  CUcontext context = nullptr;
  std::vector<std::int64_t> sizes;
  Decision decision;
  spec::LaunchPlan resolved;
  runtime::Signature signature;
  runtime::WorkspaceLayout workspace;
  std::shared_ptr<const gpu::Module> module;  ///< shared by the plans of one cubin
  std::vector<runtime::Step> steps;

  /// Puts every step onto the stream; no allocation, no lock. `zero` and `plain` are the two parts of the workspace.
  /// Requires: arguments checked by `signature`, `context` current. Throws: CudaError.
  void enqueue(const gpu::Driver& driver, const Argument* arguments, CUdeviceptr zero, CUdeviceptr plain,
               CUstream stream) const;

 private:
  void enqueue_kernel(const gpu::BoundLaunch& launch, const Argument* arguments, const std::uint64_t* addresses,
                      CUstream stream) const;
};

}  // namespace attune::detail
