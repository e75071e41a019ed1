#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tuner/spec/launch_plan.hpp"

namespace attune::spec {

/// Equal for plans that do the same with the same code: buffers, scalars, geometry, arguments, memsets and their order.
[[nodiscard]] std::string launch_key(const LaunchPlan& plan);

/// Names what a configuration runs at the problem, its setup and check included; nothing where it cannot be launched there.
[[nodiscard]] std::optional<std::string> key_of(const KernelTemplate& kernel, const Problem& problem, const Configuration& configuration,
                                                const DeviceInfo& device);

/// Launch-bound parameters (Binding) of which there is a choice. Configurations that differ in them alone share their code, and often,
/// where the work fills fewer blocks than either allows, their launches too: then they are one configuration with several names.
[[nodiscard]] std::vector<std::size_t> launch_bound_parameters(const KernelTemplate& kernel);

/// Which of several names stands for all: the default at the problem; else the one whose launch-bound values are the fewest steps from
/// the parameters' own defaults, so that one name serves as many sizes as it can; else the first in the space's order.
class NameOrder {
 public:
  /// Requires: the template outlives this.
  NameOrder(const KernelTemplate& kernel, const Problem& problem, const DeviceInfo& device);
  [[nodiscard]] bool operator()(const Configuration& a, const Configuration& b) const;

 private:
  [[nodiscard]] std::size_t steps_from_default(const Configuration& configuration) const;
  const KernelTemplate& kernel_;
  std::vector<std::size_t> launch_bound_;
  Configuration standard_;
};

/// With more combinations of launch-bound values than this, every configuration is known by its own name alone: trying them all would take
/// longer than it saves.
inline constexpr std::size_t kMostOfSameCode = 512;

/// Calls `visit` with every combination of launch-bound values beside the configuration's other values, in the space or not; with the
/// configuration alone where there are more than kMostOfSameCode.
void for_each_of_same_code(const KernelTemplate& kernel, const Configuration& configuration,
                           const std::function<void(const Configuration&)>& visit);

/// Every name of what the configuration runs, the one that stands for all first: it alone where nothing else is the same, or it cannot be
/// launched.
[[nodiscard]] std::vector<Configuration> names_of(const KernelTemplate& kernel, const Problem& problem, const Configuration& configuration,
                                                  const DeviceInfo& device);

/// The first of names_of, without making the others.
[[nodiscard]] Configuration name_of(const KernelTemplate& kernel, const Problem& problem, const Configuration& configuration,
                                    const DeviceInfo& device);

}  // namespace attune::spec
