#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "attune/runtime.hpp"
#include "tuner/runtime/evidence.hpp"
#include "tuner/runtime/layers.hpp"
#include "tuner/spec/device_info.hpp"
#include "tuner/spec/kernel_template.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace attune::runtime {

/// What a problem is dispatched with, and why. Plain data: nothing is loaded or compiled.
struct Choice {
  spec::Configuration configuration;
  Decision decision;                 ///< `compiled` and `cubin_source` are not known yet
  spec::LaunchPlan plan;             ///< resolved for the asked problem and device
  std::optional<std::size_t> layer;  ///< index into the layers; nothing for Tier::Default
  std::string cubin_key;             ///< of the donor's stored cubin; empty: none is stored for this code
  std::string source_key;            ///< of the source that cubin was compiled from; empty: unknown
};

/// Which results count.
struct Wanted {
  std::string policy;
  bool unverified = false;  ///< Options::unverified
};
/// Returns the objective that best rows must have to count; nothing where none counts.
[[nodiscard]] std::optional<std::string> objective_of(const spec::KernelTemplate& kernel, const Wanted& wanted);

/// Walks the tiers: exact device and size, the device's nearest tuned size, a sibling device of the architecture, the
/// nearest other architecture; then the same for every problem that stands in for this one (spec::related_problems), the
/// nearest first; last the template's default. A row of the template's table of defaults stands before everything tuned
/// on other devices, but a result for this very problem, these sizes included, on one of the same architecture.
/// A candidate is taken when its configuration is in the declared space, satisfies every constraint and resolves at the
/// asked size on `device`; else `passed_over` says why not.
/// Within one tier the nearest size wins (Euclidean distance of log2 sizes, 0 counting as half), then the device nearer
/// in SM count, then the earlier layer. Needs no GPU.
/// Throws: UsageError (an invalid problem; nothing recorded is usable and the default violates a constraint, which it
/// names), SpecError (the default's geometry does not evaluate here).
[[nodiscard]] Choice choose(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& device,
                            const std::vector<Layer>& layers, const Wanted& wanted);
/// The same where more decisions follow: `evidence` keeps what this one reads.
[[nodiscard]] Choice choose(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& device,
                            const std::vector<Layer>& layers, const Wanted& wanted, Evidence& evidence);

/// The first constraint that fails for this configuration, as written; nothing when all hold.
/// Throws: SpecError for one that does not evaluate.
[[nodiscard]] std::optional<std::string> violated_constraint(const spec::KernelTemplate& kernel, const spec::Problem& problem,
                                                             const spec::Configuration& configuration, const spec::DeviceInfo& device);

/// Euclidean distance of log2 sizes. Requires: the same size names in both.
[[nodiscard]] double size_distance(const spec::Problem& a, const spec::Problem& b);

}  // namespace attune::runtime
