#pragma once
#include "tuner/compile/compiler.hpp"
#include "tuner/measure/measurement.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace attune::session {

/// Adds to `resources` what the plan's kernel with the most registers takes, as `compiled` says. `file`: the template's.
/// Throws: spec::LimitError when not one block of some kernel fits an SM, so that no launch of it can succeed.
void add_resources(measure::Resources& resources, const spec::LaunchPlan& plan, const compile::CompileResult& compiled,
                   const spec::DeviceInfo& device, const std::string& file);

/// Whether a kernel was refused for its static shared memory, of which a block has 48 KiB at most: no fault of the source.
[[nodiscard]] bool exceeds_static_shared(const compile::CompileResult& compiled);

}  // namespace attune::session
