#include "tuner/runtime/plan_state.hpp"

#include <fmt/core.h>

#include <array>

#include "attune/error.hpp"

namespace attune::runtime {
namespace {

ConstantStep bind_constant(const spec::ResolvedBuffer& buffer, int index, const gpu::Module& module) {
  const auto [variable, bytes] = module.global(buffer.name);
  if (bytes < static_cast<std::size_t>(buffer.bytes)) {
    throw Error(
        fmt::format("failed binding constant buffer '{}': it has {} bytes at these sizes, the variable in the source "
                    "{}",
                    buffer.name, buffer.bytes, bytes),
        ExitCode::Spec);
  }
  return {index, variable, static_cast<std::size_t>(buffer.bytes)};
}

}  // namespace

std::vector<Step> bind_steps(const spec::LaunchPlan& plan, const gpu::Module& module) {
  std::vector<Step> steps;
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    const auto& buffer = plan.buffers[i];
    const auto bytes = static_cast<std::size_t>(buffer.bytes);
    if (buffer.memory == spec::Memory::Constant) {
      steps.emplace_back(bind_constant(buffer, static_cast<int>(i), module));
    } else if (buffer.workspace && buffer.init == spec::WorkspaceInit::ZeroEach && bytes > 0) {
      steps.emplace_back(MemsetStep{static_cast<int>(i), 0, bytes});
    }
  }
  for (const auto& step : plan.steps) {
    if (const auto* launch = std::get_if<spec::ResolvedLaunch>(&step)) {
      steps.emplace_back(gpu::BoundLaunch(*launch, module.function(launch->kernel)));
    } else {
      const auto& memset = std::get<spec::ResolvedMemset>(step);
      const auto bytes = static_cast<std::size_t>(plan.buffers.at(static_cast<std::size_t>(memset.buffer)).bytes);
      if (bytes > 0) steps.emplace_back(MemsetStep{memset.buffer, static_cast<unsigned char>(memset.byte), bytes});
    }
  }
  return steps;
}

}  // namespace attune::runtime

namespace attune::detail {

void PlanState::enqueue(const gpu::Driver& driver, const Argument* arguments, CUdeviceptr zero, CUdeviceptr plain,
                        CUstream stream) const {
  std::array<std::uint64_t, runtime::kMaxEntries>
      addresses;  // of buffers, in template order; only the first ones are used
  std::size_t next_public = 0;
  for (std::size_t i = 0; i < workspace.offsets.size(); ++i) {
    const std::size_t offset = workspace.offsets[i];
    if (offset == runtime::WorkspaceLayout::kNone) {
      addresses[i] = arguments[next_public++].bits;
    } else {
      addresses[i] = offset < workspace.zero_bytes ? zero + offset : plain + (offset - workspace.zero_bytes);
    }
  }
  for (const auto& step : steps) {
    if (const auto* launch = std::get_if<gpu::BoundLaunch>(&step)) {
      enqueue_kernel(*launch, arguments, addresses.data(), stream);
    } else if (const auto* memset = std::get_if<runtime::MemsetStep>(&step)) {
      runtime::check(driver.cuMemsetD8Async(addresses[static_cast<std::size_t>(memset->buffer)], memset->byte,
                                            memset->bytes, stream),
                     "cuMemsetD8Async", "initialising a buffer");
    } else {
      const auto& constant = std::get<runtime::ConstantStep>(step);
      std::uint64_t& address = addresses[static_cast<std::size_t>(constant.buffer)];
      runtime::check(driver.cuMemcpyDtoDAsync(constant.variable, address, constant.bytes, stream), "cuMemcpyDtoDAsync",
                     "filling a constant buffer");
      address = constant.variable;
    }
  }
}

void PlanState::enqueue_kernel(const gpu::BoundLaunch& bound, const Argument* arguments, const std::uint64_t* addresses,
                               CUstream stream) const {
  const auto& launch = bound.launch();
  std::array<void*, runtime::kMaxEntries> parameters;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const auto& argument = launch.arguments[i];
    const auto index = static_cast<std::size_t>(argument.index);
    const void* bytes = &argument.bits;  // little-endian: the low size_bytes come first
    if (argument.kind == spec::ResolvedArgument::Kind::Buffer) bytes = &addresses[index];
    if (argument.kind == spec::ResolvedArgument::Kind::Scalar)
      bytes = &arguments[signature.buffer_count() + index].bits;
    parameters[i] = const_cast<void*>(bytes);  // cuLaunchKernelEx reads them and takes void**
  }
  const CUresult result = bound.enqueue(parameters.data(), stream);
  if (result != CUDA_SUCCESS)
    gpu::check(result, "cuLaunchKernelEx", fmt::format("launching kernel '{}'", launch.kernel));
}

}  // namespace attune::detail
