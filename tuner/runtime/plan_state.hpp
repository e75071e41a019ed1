#pragma once
#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "attune/runtime.hpp"
#include "tuner/gpu/bound_steps.hpp"
#include "tuner/runtime/arguments.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace attune::runtime {

/// gpu::check for the hot path: the description becomes a std::string, which allocates, only when something failed.
inline void check(CUresult result, const char* call, const char* what) {
  if (result != CUDA_SUCCESS) [[unlikely]]
    gpu::check(result, call, what);
}

/// A part of the workspace: so many bytes behind the beginning of the zeroed scratch, or of the other.
struct WorkspacePart {
  enum Of : std::uint8_t { Zero, Plain };
  std::size_t offset;
  Of of;
};

}  // namespace attune::runtime

namespace attune::detail {

/// A configured, loaded problem in one context. Immutable after building: any thread may launch it.
struct PlanState {
  KernelState* kernel = nullptr;
  CUcontext context = nullptr;
  std::vector<std::int64_t> sizes;
  runtime::WorkspaceLayout workspace;
  std::vector<runtime::WorkspacePart> parts;  ///< of the workspace, in the order of the plan's buffers that are workspace
  gpu::BoundSteps steps;
  runtime::Signature signature;
  // No launch reads what follows.
  Decision decision;
  spec::LaunchPlan resolved;
  std::shared_ptr<const gpu::Module> module;  ///< shared by the plans of one cubin

  /// Prepares launches of a resolved plan by its loaded code. `owner`: "kernel 'reduce' at {...}", `path`: of template.json, both for
  /// messages. Throws: SpecError (more entries than kMaxEntries), SpecError-like Error (kernel or variable missing, argument sizes),
  /// CudaError.
  void bind(spec::LaunchPlan plan, std::string owner, const std::string& path, const gpu::Module& code);

  /// Puts every step onto the stream; no allocation, no lock. `zero` and `plain` are the two parts of the workspace.
  /// Requires: arguments checked by `signature`, `context` current. Throws: CudaError.
  void enqueue(const Argument* arguments, CUdeviceptr zero, CUdeviceptr plain, CUstream stream) const;
};

}  // namespace attune::detail
