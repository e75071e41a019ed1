#include "bench/support/raw_launch.hpp"

#include <fmt/core.h>

#include "attune/error.hpp"
#include "tuner/base/files.hpp"
#include "tuner/runtime/arguments.hpp"
#include "tuner/runtime/code_store.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace attune::bench {
namespace {

/// The cubin that the Runtime has just used: out of the compile cache, else compiled once more.
std::string cubin_of(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::Configuration& configuration,
                     const spec::DeviceInfo& device) {
  const auto request = runtime::make_code_request(kernel, problem, configuration, device);
  runtime::CodeStore store(base::cache_folder() / "cubins");
  if (auto code = store.cached(request)) return std::move(code->cubin);
  return store.compile(request).cubin;
}

/// Addresses of all buffers in template order: the caller's, and the parts of the workspace.
std::vector<CUdeviceptr> addresses_of(const spec::LaunchPlan& plan, const std::vector<Argument>& arguments, CUdeviceptr workspace) {
  const auto layout = runtime::layout_workspace(plan);
  std::vector<CUdeviceptr> addresses;
  std::size_t next = 0;
  for (const std::size_t offset : layout.offsets) {
    addresses.push_back(offset == runtime::WorkspaceLayout::kNone ? arguments.at(next++).bits : workspace + offset);
  }
  return addresses;
}

const spec::ResolvedLaunch& only_launch(const spec::LaunchPlan& plan) {
  const auto* const launch = plan.steps.size() == 1 ? std::get_if<spec::ResolvedLaunch>(&plan.steps.front()) : nullptr;
  if (launch == nullptr) {
    throw UsageError(
        fmt::format("failed preparing a raw launch: the plan has {} steps, one launch is needed; choose another size", plan.steps.size()));
  }
  return *launch;
}

/// What is launched, as the dispatcher resolves it.
struct Resolved {
  spec::KernelTemplate kernel;
  spec::Problem asked;
  spec::Configuration chosen;
  spec::DeviceInfo device;
  Resolved(const LaunchCase& problem, const std::string& configuration)
      : kernel(spec::TemplateLibrary(problem.templates).find(problem.template_name)),
        asked{problem.choices, {{kernel.size_names().front(), problem.n}}},
        chosen(spec::configuration_from_text(kernel, configuration)) {
    CUdevice handle = 0;
    gpu::check(gpu::Driver::get().cuCtxGetDevice(&handle), "cuCtxGetDevice", "finding the device");
    device = gpu::read_device(static_cast<int>(handle));  // handles are ordinals
  }
};

}  // namespace

std::shared_ptr<const gpu::Module> load_code(const LaunchCase& problem, const std::string& configuration) {
  const Resolved resolved(problem, configuration);
  return std::make_shared<const gpu::Module>(cubin_of(resolved.kernel, resolved.asked, resolved.chosen, resolved.device));
}

RawLaunch::RawLaunch(const LaunchCase& problem, const std::string& configuration, const std::vector<Argument>& arguments,
                     CUdeviceptr workspace, std::shared_ptr<const gpu::Module> code)
    : launch_(gpu::Driver::get().cuLaunchKernelEx), code_(std::move(code)) {
  const Resolved resolved(problem, configuration);
  const auto plan = spec::resolve(resolved.kernel, resolved.asked, resolved.chosen, resolved.device);
  const auto& launch = only_launch(plan);
  function_ = code_->function(launch.kernel);
  const auto addresses = addresses_of(plan, arguments, workspace);
  const auto first_scalar = arguments.size() - plan.scalars.size();
  for (const auto& argument : launch.arguments) {
    const auto index = static_cast<std::size_t>(argument.index);
    switch (argument.kind) {
      case spec::ResolvedArgument::Kind::Buffer:
        values_.push_back(addresses.at(index));
        break;
      case spec::ResolvedArgument::Kind::Scalar:
        values_.push_back(arguments.at(first_scalar + index).bits);
        break;
      case spec::ResolvedArgument::Kind::Bits:
        values_.push_back(argument.bits);
    }
  }
  for (auto& value : values_) parameters_.push_back(&value);
  config_.gridDimX = launch.grid[0];
  config_.gridDimY = launch.grid[1];
  config_.gridDimZ = launch.grid[2];
  config_.blockDimX = launch.block[0];
  config_.blockDimY = launch.block[1];
  config_.blockDimZ = launch.block[2];
  config_.sharedMemBytes = launch.shared_bytes;
  if (launch.shared_bytes > 0 || launch.cooperative || launch.cluster[0] != 0) {
    throw UsageError("failed preparing a raw launch: dynamic shared memory, clusters and cooperative launches are not made here");
  }
  config_.attrs = attributes_.data();
}

}  // namespace attune::bench
