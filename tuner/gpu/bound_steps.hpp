#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "tuner/gpu/handles.hpp"

namespace attune::gpu {

/// Where a launch finds eight bytes: so many bytes behind the caller's arguments, behind the addresses of the workspace's parts, or
/// behind the constants of the step. Adding takes the place of a branch for each argument.
struct Place {
  enum Base : std::uint16_t { Arguments, Workspace, Constants };
  Base base;
  std::uint16_t offset_bytes;
};

/// The `index`-th of values that stand `bytes` bytes apart. Throws: Error beyond what a Place can say.
[[nodiscard]] Place place_at(Place::Base base, std::size_t index, std::size_t bytes);

struct KernelStep {
  BoundLaunch launch;
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

/// What a plan puts onto a stream, bound to loaded code: constant copies, `zero_each` memsets, then the template's own steps. What is timed
/// is these steps, and what is dispatched.
using BoundSteps = std::vector<Step>;

/// Where a plan's buffers and scalars lie, by their index in it; no scalars: the plan's own values are constants.
struct Places {
  std::vector<Place> buffers;
  std::vector<Place> scalars;
};

/// Throws: Error (kernel or variable missing, argument sizes, a __constant__ variable that is too small), CudaError.
[[nodiscard]] BoundSteps bind_steps(const spec::LaunchPlan& plan, const Places& places, const Module& module);

/// What the places of Arguments and of Workspace lie behind, for one launch.
struct Bases {
  const void* arguments = nullptr;
  const void* workspace = nullptr;
};

/// Puts every step onto the stream; no allocation, no lock. Requires: the context is current. Throws: CudaError naming the kernel.
void enqueue(const BoundSteps& steps, const Bases& bases, CUstream stream);

}  // namespace attune::gpu
