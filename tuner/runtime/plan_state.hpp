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

/// Where a launch finds eight bytes: so many bytes behind the caller's arguments, behind the addresses of the workspace's parts, or
/// behind the constants of the step. Adding takes the place of a branch for each argument.
struct Place {
  enum Base : std::uint16_t { Arguments, Workspace, Constants };
  Base base;
  std::uint16_t offset_bytes;
};

/// A part of the workspace: so many bytes behind the beginning of the zeroed scratch, or of the other.
struct WorkspacePart {
  enum Of : std::uint8_t { Zero, Plain };
  std::size_t offset;
  Of of;
};

struct KernelStep {
  gpu::BoundLaunch launch;
  std::vector<Place> parameters;
  std::vector<std::uint64_t> constants;  ///< that parameters are read from: little-endian, the low bytes count
};

struct MemsetStep {
  Place buffer;
  unsigned char byte = 0;
  std::size_t bytes = 0;
};

/// Copies a caller's buffer into the __constant__ variable that stands for it.
struct ConstantStep {
  Place buffer;
  CUdeviceptr variable = 0;
  std::size_t bytes = 0;
};

using Step = std::variant<KernelStep, MemsetStep, ConstantStep>;

/// What a plan puts onto a stream, bound to loaded code.
struct BoundSteps {
  std::vector<WorkspacePart> workspace;
  std::vector<Step> steps;  ///< constant copies, `zero_each` memsets, then the template's own
};

}  // namespace attune::runtime

namespace attune::detail {

/// A configured, loaded problem in one context. Immutable after building: any thread may launch it.
struct PlanState {
  KernelState* kernel = nullptr;
  CUcontext context = nullptr;
  std::vector<std::int64_t> sizes;
  runtime::WorkspaceLayout workspace;
  runtime::BoundSteps bound;
  runtime::Signature signature;
  // No launch reads what follows.
  Decision decision;
  spec::LaunchPlan resolved;
  std::shared_ptr<const gpu::Module> module;  ///< shared by the plans of one cubin

  /// Prepares launches of a resolved plan by its loaded code. `owner`: "kernel 'reduce' at {...}", `path`: of template.json, both for messages.
  /// Throws: SpecError (more entries than kMaxEntries), SpecError-like Error (kernel or variable missing, argument sizes), CudaError.
  void bind(spec::LaunchPlan plan, std::string owner, const std::string& path, const gpu::Module& code);

  /// Puts every step onto the stream; no allocation, no lock. `zero` and `plain` are the two parts of the workspace.
  /// Requires: arguments checked by `signature`, `context` current. Throws: CudaError.
  void enqueue(const gpu::Driver& driver, const Argument* arguments, CUdeviceptr zero, CUdeviceptr plain,
               CUstream stream) const;
};

}  // namespace attune::detail
