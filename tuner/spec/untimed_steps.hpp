#pragma once
#include <string>
#include <vector>

#include "tuner/spec/launch_plan.hpp"

namespace attune::spec {

/// Whether a step names the buffer, as an argument or to set its bytes.
[[nodiscard]] bool names_buffer(const std::vector<StepSpec>& steps, const std::string& buffer);

/// Whether the steps may be others for another configuration: an expression or argument of theirs is a parameter or follows from one by
/// lets, or the size of a workspace that they name does. What their code does with macros it cannot tell.
[[nodiscard]] bool depends_on_parameters(const KernelTemplate& kernel, const std::vector<StepSpec>& steps);
/// Whether an expression may have another value for another configuration, as above.
[[nodiscard]] bool depends_on_parameters(const KernelTemplate& kernel, const Expression& expression);

/// Whether check has something to do with a workspace of the launches: then it is right behind a single call alone, as windows share it.
[[nodiscard]] bool check_names_scratch_of_launches(const KernelTemplate& kernel);

/// The steps that write prepared buffers. Workspaces in it are those that setup names, and nobody else's: the others are none here.
/// Throws: as resolve; a LimitError begins with "setup: ". Source: docs/decisions/0022-setup-and-check.md
[[nodiscard]] LaunchPlan resolve_setup(const KernelTemplate& kernel, const Problem& problem, const Configuration& configuration,
                                       const DeviceInfo& device);

/// The steps between the launches and the comparing. They have the workspaces of the launches, as these left them: workspaces in it are
/// those that check alone names. Throws: as resolve; a LimitError begins with "check: ".
[[nodiscard]] LaunchPlan resolve_check(const KernelTemplate& kernel, const Problem& problem, const Configuration& configuration,
                                       const DeviceInfo& device);

/// Whether each configuration runs setup with its own code.
[[nodiscard]] inline bool has_own_setup(const KernelTemplate& kernel) { return !kernel.setup.empty() && !kernel.setup_is_shared; }

struct UntimedPlan {
  const char* name;                    ///< "setup" or "check"
  const std::vector<StepSpec>* steps;  ///< of the template
  LaunchPlan plan;
};

/// Those that a configuration runs with its own code: setup unless it is shared, and check. Throws: as resolve_setup and resolve_check.
[[nodiscard]] std::vector<UntimedPlan> resolve_own_untimed(const KernelTemplate& kernel, const Problem& problem,
                                                           const Configuration& configuration, const DeviceInfo& device);

}  // namespace attune::spec
