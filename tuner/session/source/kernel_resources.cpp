#include "tuner/session/source/kernel_resources.hpp"

#include <fmt/core.h>

#include <utility>

#include "tuner/compile/find_kernel.hpp"
#include "tuner/compile/occupancy.hpp"

namespace attune::session {

void add_resources(measure::Resources& resources, const spec::LaunchPlan& plan, const compile::CompileResult& compiled,
                   const spec::DeviceInfo& device, const std::string& file) {
  bool any = false;
  for (const auto* const launch : spec::launches_of(plan)) {
    const auto* const kernel = compile::find_kernel(compiled, launch->kernel);
    if (kernel == nullptr) continue;
    const int threads = static_cast<int>(launch->block[0] * launch->block[1] * launch->block[2]);
    const auto occupancy = compile::occupancy(*kernel, threads, launch->shared_bytes, device);
    const int shared_bytes = kernel->static_shared_bytes + static_cast<int>(launch->shared_bytes);
    if (occupancy.blocks_per_sm == 0) {
      throw spec::LimitError(file, 0, 0,
                             fmt::format("no block of \"{}\" fits an SM: {} threads of {} registers each, {} bytes of shared memory; "
                                         "too much by its {}",
                                         launch->kernel, threads, kernel->registers, shared_bytes, occupancy.limited_by));
    }
    if (std::exchange(any, true) && kernel->registers <= resources.registers) continue;
    resources.registers = kernel->registers;
    resources.shared_bytes = shared_bytes;
    resources.stack_bytes = kernel->stack_bytes;
    resources.spill_bytes = kernel->spill_store_bytes + kernel->spill_load_bytes;
    resources.occupancy = occupancy.fraction;
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
