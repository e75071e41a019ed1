#include "tuner/session/source/kernel_resources.hpp"

#include <fmt/core.h>

#include <map>
#include <utility>

#include "tuner/base/cubin_kernels.hpp"
#include "tuner/compile/find_kernel.hpp"
#include "tuner/compile/occupancy.hpp"
#include "tuner/spec/untimed_steps.hpp"

namespace attune::session {
namespace {

using CubinKernels = std::map<std::string, base::CubinKernel>;

CubinKernels kernels_of(const compile::CompileResult& compiled) {
  return base::read_cubin_kernels(compiled.cubin).value_or(CubinKernels());
}

int shared_bytes_of(const spec::ResolvedLaunch& launch, const compile::KernelResources& kernel) {
  return kernel.static_shared_bytes + static_cast<int>(launch.shared_bytes);
}

/// Throws: spec::LimitError, which begins with `what`, where no block fits.
compile::Occupancy fitting(const spec::ResolvedLaunch& launch, const compile::KernelResources& kernel, const CubinKernels& told,
                           const spec::DeviceInfo& device, const std::string& file, const std::string& what) {
  const int threads = static_cast<int>(launch.block[0] * launch.block[1] * launch.block[2]);
  const auto found = told.find(kernel.kernel);
  const int most = found == told.end() ? 0 : found->second.most_threads;
  if (most > 0 && threads > most)  // a driver refuses the launch
    throw spec::LimitError(
        file, 0, 0, fmt::format("{}a block of \"{}\" has {} threads; its __launch_bounds__ allow {}", what, launch.kernel, threads, most));
  const auto occupancy = compile::occupancy(kernel, threads, launch.shared_bytes, device);
  if (occupancy.blocks_per_sm > 0) return occupancy;
  throw spec::LimitError(
      file, 0, 0,
      fmt::format("{}no block of \"{}\" fits an SM: {} threads of {} registers each, {} bytes of shared memory; "
                  "too much by its {}",
                  what, launch.kernel, threads, kernel.registers, shared_bytes_of(launch, kernel), occupancy.limited_by));
}

}  // namespace

void add_resources(measure::Resources& resources, const spec::LaunchPlan& plan, const compile::CompileResult& compiled,
                   const spec::DeviceInfo& device, const std::string& file) {
  const CubinKernels told = kernels_of(compiled);
  bool any = false;
  for (const auto* const launch : spec::launches_of(plan)) {
    const auto* const kernel = compile::find_kernel(compiled, launch->kernel);
    if (kernel == nullptr) continue;
    const auto occupancy = fitting(*launch, *kernel, told, device, file, "");
    if (std::exchange(any, true) && kernel->registers <= resources.registers) continue;
    resources.registers = kernel->registers;
    resources.shared_bytes = shared_bytes_of(*launch, *kernel);
    resources.stack_bytes = kernel->stack_bytes;
    resources.spill_bytes = kernel->spill_store_bytes + kernel->spill_load_bytes;
    resources.occupancy = occupancy.fraction;
  }
}

void require_untimed_fits(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::Configuration& configuration,
                          const compile::CompileResult& compiled, const spec::DeviceInfo& device) {
  const CubinKernels told = kernels_of(compiled);
  for (const auto& untimed : spec::resolve_own_untimed(kernel, problem, configuration, device)) {
    for (const auto* const launch : spec::launches_of(untimed.plan)) {
      if (const auto* const found = compile::find_kernel(compiled, launch->kernel); found != nullptr)
        static_cast<void>(fitting(*launch, *found, told, device, kernel.spec_path, fmt::format("{}: ", untimed.name)));
    }
  }
}

bool exceeds_static_shared(const compile::CompileResult& compiled) {
  return compiled.status == compile::CompileStatus::Failed && compiled.log.find("uses too much shared data") != std::string::npos;
}

void note_failure(measure::Measurement& measurement, const compile::CompileResult& compiled) {
  measurement.outcome = exceeds_static_shared(compiled) ? measure::Outcome::ExceedsLimits : measure::Outcome::CompileFailed;
  measurement.detail = (compiled.status == compile::CompileStatus::TimedOut ? "compiling passed its deadline: " : "") + compiled.log;
}

bool note_failure(measure::Measurement& measurement, const Error& error) {
  const bool limit = dynamic_cast<const spec::LimitError*>(&error) != nullptr;
  if (!limit && dynamic_cast<const SpecError*>(&error) != nullptr) return false;
  measurement.outcome = limit ? measure::Outcome::ExceedsLimits : measure::Outcome::LaunchFailed;
  measurement.detail = error.what();
  return true;
}

}  // namespace attune::session
