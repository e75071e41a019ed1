#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/progress_line.hpp"
#include "tuner/compile/compile_pool.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace attune::tools {

/// What became of a configuration that was compiled and bound without a GPU.
enum class SampleOutcome {
  Fits,           ///< compiles, its launches take what is passed, and a block of each fits an SM
  ExceedsLimits,  ///< compiles or need not, and the device cannot launch it
  CompileFailed,
  DoesNotBind,  ///< a launch names no kernel, passes other arguments than it takes, or cannot be computed
};
[[nodiscard]] const char* name(SampleOutcome outcome);

struct SampledConfiguration {
  spec::Configuration configuration = {};
  SampleOutcome outcome = SampleOutcome::Fits;
  std::string detail = {};  ///< why it does not fit, in one line; of the compiler its first error, behind how it is mended
  double compile_ms = 0;    ///< 0: not compiled, or with another of the same code
  double occupancy = 0;     ///< of the kernel with the most registers; 0: unknown
  int registers = 0, shared_bytes = 0, spill_bytes = 0;
};

/// Compiles and binds configurations of one problem, in their order. `pool` must have no cache: times are of compiling. `before`: what the
/// pool was asked for before, which it answers from memory.
[[nodiscard]] std::vector<SampledConfiguration> check_sample(const spec::KernelTemplate& kernel, const spec::Problem& problem,
                                                             const spec::DeviceInfo& device,
                                                             const std::vector<spec::Configuration>& configurations,
                                                             const compile::CompileResult& before, compile::CompilePool& pool,
                                                             ProgressLine& line);

/// Why launches cannot be made of the compiled code, whatever the device: other arguments than a kernel takes. Empty where they can be, and
/// where the cubin does not tell.
[[nodiscard]] std::string binding_fault(const spec::LaunchPlan& plan, const compile::CompileResult& compiled);

/// Whether none failed for good; what exceeds the limits of a device is no fault.
[[nodiscard]] bool is_sound(const std::vector<SampledConfiguration>& sample);

/// {"fits": 3, ..., "compile_ms_median", "configurations": [...]}.
[[nodiscard]] nlohmann::json sample_json(const spec::KernelTemplate& kernel, const std::vector<SampledConfiguration>& sample);
/// The same for people: counts, times, and each one that does not fit.
void print_sample(const spec::KernelTemplate& kernel, const std::vector<SampledConfiguration>& sample);

}  // namespace attune::tools
