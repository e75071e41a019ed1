#include "tuner/gpu/bound_steps.hpp"

#include <fmt/core.h>

#include <cstring>
#include <limits>

#include "attune/error.hpp"

namespace attune::gpu {
namespace {

/// By Place::Base; where constants begin is every step's own.
using Starts = std::array<const std::byte*, 3>;

const std::byte* at(const Starts& starts, Place place) { return starts[place.base] + place.offset_bytes; }

CUdeviceptr address_at(const Starts& starts, Place place) {
  CUdeviceptr address = 0;
  std::memcpy(&address, at(starts, place), sizeof address);
  return address;
}

ConstantStep bind_constant(const spec::ResolvedBuffer& buffer, Place place, const Module& module) {
  const auto [variable, bytes] = module.global(buffer.name);
  if (bytes < static_cast<std::size_t>(buffer.bytes)) {
    throw Error(fmt::format("failed binding constant buffer '{}': it has {} bytes at these sizes, the variable in the source {}",
                            buffer.name, buffer.bytes, bytes),
                ExitCode::Spec);
  }
  return {place, variable, static_cast<std::size_t>(buffer.bytes)};
}

KernelStep bind_kernel(const spec::LaunchPlan& plan, const spec::ResolvedLaunch& launch, const Places& places, const Module& module) {
  using Kind = spec::ResolvedArgument::Kind;
  KernelStep step{BoundLaunch(launch, module.function(launch.kernel)), {}, {}};
  const auto pass_constant = [&](std::uint64_t bits) {
    step.parameters.push_back(place_at(Place::Constants, step.constants.size(), sizeof bits));
    step.constants.push_back(bits);
  };
  for (const auto& argument : launch.arguments) {
    const auto index = static_cast<std::size_t>(argument.index);
    if (argument.kind == Kind::Buffer)
      step.parameters.push_back(places.buffers[index]);
    else if (argument.kind == Kind::Bits)
      pass_constant(argument.bits);
    else if (places.scalars.empty())
      pass_constant(plan.scalars[index].bits);
    else
      step.parameters.push_back(places.scalars[index]);
  }
  return step;
}

constexpr std::size_t kFewParameters = 64;  // more are never dispatched, and tuning may allocate

void enqueue_kernel(const KernelStep& step, Starts starts, CUstream stream) {
  starts[Place::Constants] = reinterpret_cast<const std::byte*>(step.constants.data());
  std::array<void*, kFewParameters> few;  // only the first ones are used
  std::vector<void*> many;
  void** parameters = few.data();
  if (step.parameters.size() > few.size()) [[unlikely]] {
    many.resize(step.parameters.size());
    parameters = many.data();
  }
  for (std::size_t i = 0; i < step.parameters.size(); ++i)
    parameters[i] = const_cast<std::byte*>(at(starts, step.parameters[i]));  // cuLaunchKernelEx reads them and takes void**
  const CUresult result = step.launch.enqueue(parameters, stream);
  if (result != CUDA_SUCCESS) [[unlikely]]
    check(result, "cuLaunchKernelEx", fmt::format("launching kernel '{}'", step.launch.launch().kernel));
}

/// The description becomes a std::string, which allocates, only when something failed.
void check_quickly(CUresult result, const char* call, const char* what) {
  if (result != CUDA_SUCCESS) [[unlikely]]
    check(result, call, what);
}

}  // namespace

Place place_at(Place::Base base, std::size_t index, std::size_t bytes) {
  static_assert(sizeof(CUdeviceptr) == sizeof(std::uint64_t));
  if (index * bytes > std::numeric_limits<std::uint16_t>::max())
    throw Error("failed binding a kernel: it has too many buffers, scalars or arguments");
  return {base, static_cast<std::uint16_t>(index * bytes)};
}

BoundSteps bind_steps(const spec::LaunchPlan& plan, const Places& places, const Module& module) {
  BoundSteps steps;
  const auto set = [&](std::size_t index, unsigned char byte) {
    const auto bytes = static_cast<std::size_t>(plan.buffers.at(index).bytes);
    if (bytes > 0) steps.emplace_back(MemsetStep{places.buffers[index], byte, bytes});
  };
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    const auto& buffer = plan.buffers[i];
    if (buffer.memory == spec::Memory::Constant) {
      steps.emplace_back(bind_constant(buffer, places.buffers[i], module));
    } else if (buffer.workspace && buffer.init == spec::WorkspaceInit::ZeroEach) {
      set(i, 0);
    }
  }
  for (const auto& step : plan.steps) {
    if (const auto* launch = std::get_if<spec::ResolvedLaunch>(&step)) {
      steps.emplace_back(bind_kernel(plan, *launch, places, module));
    } else {
      const auto& memset = std::get<spec::ResolvedMemset>(step);
      set(static_cast<std::size_t>(memset.buffer), static_cast<unsigned char>(memset.byte));
    }
  }
  return steps;
}

void enqueue(const BoundSteps& steps, const Bases& bases, CUstream stream) {
  const Starts starts{static_cast<const std::byte*>(bases.arguments), static_cast<const std::byte*>(bases.workspace), nullptr};
  for (const auto& step : steps) {
    if (const auto* kernel_step = std::get_if<KernelStep>(&step)) {
      enqueue_kernel(*kernel_step, starts, stream);
    } else if (const auto* memset = std::get_if<MemsetStep>(&step)) {
      check_quickly(Driver::get().cuMemsetD8Async(address_at(starts, memset->buffer), memset->byte, memset->bytes, stream),
                    "cuMemsetD8Async", "initialising a buffer");
    } else {
      const auto& constant = std::get<ConstantStep>(step);
      check_quickly(Driver::get().cuMemcpyDtoDAsync(constant.variable, address_at(starts, constant.buffer), constant.bytes, stream),
                    "cuMemcpyDtoDAsync", "filling a constant buffer");
    }
  }
}

}  // namespace attune::gpu
