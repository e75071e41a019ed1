#include "tuner/runtime/plan_state.hpp"

#include <fmt/core.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "attune/error.hpp"

namespace attune::runtime {
namespace {

ConstantStep bind_constant(const spec::ResolvedBuffer& buffer, Place place, const gpu::Module& module) {
  const auto [variable, bytes] = module.global(buffer.name);
  if (bytes < static_cast<std::size_t>(buffer.bytes)) {
    throw Error(
        fmt::format("failed binding constant buffer '{}': it has {} bytes at these sizes, the variable in the source "
                    "{}",
                    buffer.name, buffer.bytes, bytes),
        ExitCode::Spec);
  }
  return {place, variable, static_cast<std::size_t>(buffer.bytes)};
}

// What `offset_bytes` rests on: an argument's value is its first member, and none of kMaxEntries buffers and as many scalars lies too far.
static_assert(std::is_standard_layout_v<Argument> && offsetof(Argument, bits) == 0);
static_assert(2 * kMaxEntries * sizeof(Argument) <= UINT16_MAX && sizeof(CUdeviceptr) == sizeof(std::uint64_t));

Place behind(Place::Base base, std::size_t index, std::size_t bytes) { return {base, static_cast<std::uint16_t>(index * bytes)}; }

/// Where each buffer's address is found: the caller's among the arguments, in the order of the signature; the others in `parts`.
std::vector<Place> places_of_buffers(const WorkspaceLayout& layout, std::vector<WorkspacePart>& parts) {
  std::vector<Place> places;
  std::size_t callers = 0;
  for (const std::size_t offset : layout.offsets) {
    if (offset == WorkspaceLayout::kNone) {
      places.push_back(behind(Place::Arguments, callers++, sizeof(Argument)));
      continue;
    }
    places.push_back(behind(Place::Workspace, parts.size(), sizeof(std::uint64_t)));
    if (offset < layout.zero_bytes) parts.push_back({offset, WorkspacePart::Zero});
    else parts.push_back({offset - layout.zero_bytes, WorkspacePart::Plain});
  }
  return places;
}

KernelStep bind_kernel(const spec::ResolvedLaunch& launch, const std::vector<Place>& buffers, std::size_t first_scalar, const gpu::Module& module) {
  using Kind = spec::ResolvedArgument::Kind;
  KernelStep step{gpu::BoundLaunch(launch, module.function(launch.kernel)), {}, {}};
  for (const auto& argument : launch.arguments) {
    const auto index = static_cast<std::size_t>(argument.index);
    switch (argument.kind) {
      case Kind::Buffer:
        step.parameters.push_back(buffers[index]);
        break;
      case Kind::Scalar:
        step.parameters.push_back(behind(Place::Arguments, first_scalar + index, sizeof(Argument)));
        break;
      case Kind::Bits:
        step.parameters.push_back(behind(Place::Constants, step.constants.size(), sizeof(std::uint64_t)));
        step.constants.push_back(argument.bits);
    }
  }
  return step;
}

/// Of one launch, by Place::Base; where constants begin is every step's own.
using Bases = std::array<const std::byte*, 3>;

template <class T>
const std::byte* bytes_of(const T* values) {
  return reinterpret_cast<const std::byte*>(values);
}

const std::byte* at(const Bases& bases, Place place) { return bases[place.base] + place.offset_bytes; }

CUdeviceptr address_at(const Bases& bases, Place place) {
  CUdeviceptr address = 0;
  std::memcpy(&address, at(bases, place), sizeof address);
  return address;
}

void enqueue_kernel(const KernelStep& step, Bases bases, CUstream stream) {
  bases[Place::Constants] = bytes_of(step.constants.data());
  std::array<void*, kMaxEntries> parameters;  // only the first ones are used
  for (std::size_t i = 0; i < step.parameters.size(); ++i)
    parameters[i] = const_cast<std::byte*>(at(bases, step.parameters[i]));  // cuLaunchKernelEx reads them and takes void**
  const CUresult result = step.launch.enqueue(parameters.data(), stream);
  if (result != CUDA_SUCCESS) [[unlikely]]
    gpu::check(result, "cuLaunchKernelEx", fmt::format("launching kernel '{}'", step.launch.launch().kernel));
}

BoundSteps bind_steps(const spec::LaunchPlan& plan, const Signature& signature, const WorkspaceLayout& layout, const gpu::Module& module) {
  BoundSteps bound;
  const auto buffers = places_of_buffers(layout, bound.workspace);
  const auto set = [&](std::size_t index, unsigned char byte) {
    const auto bytes = static_cast<std::size_t>(plan.buffers.at(index).bytes);
    if (bytes > 0) bound.steps.emplace_back(MemsetStep{buffers[index], byte, bytes});
  };
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    const auto& buffer = plan.buffers[i];
    if (buffer.memory == spec::Memory::Constant) {
      bound.steps.emplace_back(bind_constant(buffer, buffers[i], module));
    } else if (buffer.workspace && buffer.init == spec::WorkspaceInit::ZeroEach) {
      set(i, 0);
    }
  }
  for (const auto& step : plan.steps) {
    if (const auto* launch = std::get_if<spec::ResolvedLaunch>(&step)) {
      bound.steps.emplace_back(bind_kernel(*launch, buffers, signature.buffer_count(), module));
    } else {
      const auto& memset = std::get<spec::ResolvedMemset>(step);
      set(static_cast<std::size_t>(memset.buffer), static_cast<unsigned char>(memset.byte));
    }
  }
  return bound;
}

}  // namespace
}  // namespace attune::runtime

namespace attune::detail {

void PlanState::bind(spec::LaunchPlan plan, std::string owner, const std::string& path, const gpu::Module& code) {
  signature = runtime::Signature(plan, std::move(owner), path);
  workspace = runtime::layout_workspace(plan);
  bound = runtime::bind_steps(plan, signature, workspace, code);
  resolved = std::move(plan);
}

void PlanState::enqueue(const gpu::Driver& driver, const Argument* arguments, CUdeviceptr zero, CUdeviceptr plain,
                        CUstream stream) const {
  using namespace runtime;
  std::array<CUdeviceptr, 2> scratch;
  scratch[WorkspacePart::Zero] = zero;
  scratch[WorkspacePart::Plain] = plain;
  std::array<CUdeviceptr, kMaxEntries> parts;  // only the first ones are used
  for (std::size_t i = 0; i < bound.workspace.size(); ++i) parts[i] = scratch[bound.workspace[i].of] + bound.workspace[i].offset;
  const Bases bases{bytes_of(arguments), bytes_of(parts.data()), nullptr};
  for (const auto& step : bound.steps) {
    if (const auto* kernel_step = std::get_if<KernelStep>(&step)) {
      enqueue_kernel(*kernel_step, bases, stream);
    } else if (const auto* memset = std::get_if<MemsetStep>(&step)) {
      check(driver.cuMemsetD8Async(address_at(bases, memset->buffer), memset->byte, memset->bytes, stream), "cuMemsetD8Async",
            "initialising a buffer");
    } else {
      const auto& constant = std::get<ConstantStep>(step);
      check(driver.cuMemcpyDtoDAsync(constant.variable, address_at(bases, constant.buffer), constant.bytes, stream),
            "cuMemcpyDtoDAsync", "filling a constant buffer");
    }
  }
}

}  // namespace attune::detail
