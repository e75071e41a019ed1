#pragma once
#include "attune/error.hpp"
#include "tuner/compile/compiler.hpp"
#include "tuner/measure/measurement.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace attune::session {

/// Adds to `resources` what the plan's kernel with the most registers takes, as `compiled` says. `file`: the template's.
/// Throws: spec::LimitError when not one block of some kernel fits an SM, or one is larger than its __launch_bounds__, so that no launch of
/// it can succeed.
void add_resources(measure::Resources& resources, const spec::LaunchPlan& plan, const compile::CompileResult& compiled,
                   const spec::DeviceInfo& device, const std::string& file);

/// The same of setup and check, whose figures are nobody's: nobody times them. Throws: spec::LimitError, which says which of the two.
void require_untimed_fits(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::Configuration& configuration,
                          const compile::CompileResult& compiled, const spec::DeviceInfo& device);

/// Whether a kernel was refused for its static shared memory, of which a block has 48 KiB at most: no fault of the source.
[[nodiscard]] bool exceeds_static_shared(const compile::CompileResult& compiled);
/// What code that was not compiled is recorded as.
void note_failure(measure::Measurement& measurement, const compile::CompileResult& compiled);
/// What a configuration is recorded as whose launch cannot be made of its code: it exceeds limits, or several kernels are called as the
/// launch says. Whether it is that; else it is the template's fault, whatever the configuration.
[[nodiscard]] bool note_failure(measure::Measurement& measurement, const Error& error);

}  // namespace attune::session
