#include "tuner/session/source/kernel_resources.hpp"

#include "tuner/compile/occupancy.hpp"

namespace attune::session {

void add_resources(measure::Resources& resources, const spec::LaunchPlan& plan, const compile::CompileResult& compiled,
                   const spec::DeviceInfo& device) {
  const compile::KernelResources* heaviest = nullptr;
  const spec::ResolvedLaunch* launch = nullptr;
  for (const auto* const candidate : spec::launches_of(plan)) {
    for (const auto& kernel : compiled.kernels) {
      if (kernel.kernel == candidate->kernel && (heaviest == nullptr || kernel.registers > heaviest->registers)) {
        heaviest = &kernel;
        launch = candidate;
      }
    }
  }
  if (heaviest == nullptr) return;
  const int threads = static_cast<int>(launch->block[0] * launch->block[1] * launch->block[2]);
  resources.registers = heaviest->registers;
  resources.shared_bytes = heaviest->static_shared_bytes + static_cast<int>(launch->shared_bytes);
  resources.stack_bytes = heaviest->stack_bytes;
  resources.spill_bytes = heaviest->spill_store_bytes + heaviest->spill_load_bytes;
  resources.occupancy = compile::occupancy(*heaviest, threads, launch->shared_bytes, device).fraction;
}

}  // namespace attune::session
