#include "tuner/measure/call.hpp"

#include <fmt/core.h>

namespace attune::measure {

Call::Call(const spec::LaunchPlan& plan, const gpu::Module& module) {
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    const auto& buffer = plan.buffers[i];
    const auto bytes = static_cast<std::size_t>(buffer.bytes);
    if (buffer.workspace && buffer.init == spec::WorkspaceInit::ZeroEach && bytes > 0) {
      steps_.push_back(Memset{static_cast<int>(i), 0, bytes});
    }
    if (buffer.memory != spec::Memory::Constant) continue;
    const auto [address, size_bytes] = module.global(buffer.name);
    if (size_bytes < bytes) {
      throw Error(
          fmt::format("failed binding buffer \"{}\": the compiled __constant__ variable has {} bytes, {} are needed",
                      buffer.name, size_bytes, bytes),
          ExitCode::Spec);
    }
    constants_.push_back({static_cast<int>(i), address, bytes});
  }
  for (const auto& step : plan.steps) {
    if (const auto* memset = std::get_if<spec::ResolvedMemset>(&step)) {
      const auto bytes = static_cast<std::size_t>(plan.buffers[static_cast<std::size_t>(memset->buffer)].bytes);
      if (bytes > 0) steps_.push_back(Memset{memset->buffer, memset->byte, bytes});
      continue;
    }
    const auto& launch = std::get<spec::ResolvedLaunch>(step);
    Launch bound{gpu::BoundLaunch(launch, module.function(launch.kernel)), {}, {}, {}};
    for (const auto& argument : launch.arguments) {
      using Kind = spec::ResolvedArgument::Kind;
      const bool scalar = argument.kind == Kind::Scalar;
      bound.values.push_back(scalar ? plan.scalars[static_cast<std::size_t>(argument.index)].bits : argument.bits);
      bound.buffers.push_back(argument.kind == Kind::Buffer ? argument.index : -1);
    }
    steps_.push_back(std::move(bound));
  }
  for (auto& step : steps_) {
    if (auto* launch = std::get_if<Launch>(&step)) {
      for (auto& value : launch->values)
        launch->pointers.push_back(&value);  // stays valid: `values` never moves its storage
    }
  }
}

void Call::enqueue(const Addresses& addresses, CUstream stream) {
  for (auto& step : steps_) {
    if (const auto* memset = std::get_if<Memset>(&step)) {
      gpu::check(gpu::Driver::get().cuMemsetD8Async(addresses[static_cast<std::size_t>(memset->buffer)],
                                                    static_cast<unsigned char>(memset->byte), memset->bytes, stream),
                 "cuMemsetD8Async", "clearing a buffer");
      continue;
    }
    auto& launch = std::get<Launch>(step);
    for (std::size_t i = 0; i < launch.values.size(); ++i) {
      if (launch.buffers[i] >= 0) launch.values[i] = addresses[static_cast<std::size_t>(launch.buffers[i])];
    }
    const CUresult result = launch.bound.enqueue(launch.pointers.data(), stream);
    if (result != CUDA_SUCCESS)
      gpu::check(result, "cuLaunchKernelEx", fmt::format("launching kernel \"{}\"", launch.bound.function().name));
  }
}

void Call::load_constants(Support& support, const Addresses& addresses) const {
  for (const auto& constant : constants_) {
    support.copy(constant.address, addresses[static_cast<std::size_t>(constant.buffer)], constant.bytes);
  }
}

}  // namespace attune::measure
