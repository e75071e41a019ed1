// The configuration that is used where nothing was tuned: launch_plan.hpp declares it.
#include "tuner/spec/launch_plan.hpp"

namespace attune::spec {
namespace {

Configuration with_values(const KernelTemplate& kernel, const DefaultRow& row) {
  Configuration configuration = default_configuration(kernel);
  for (const auto& [parameter, value] : row.values) configuration.index.at(parameter) = value;
  return configuration;
}

}  // namespace

const DefaultRow* default_row(const KernelTemplate& kernel, const Problem& problem, const DeviceInfo& device) {
  const Configuration own = default_configuration(kernel);  // the scope refers to it
  const Scope scope = make_scope(kernel, problem, own, device);
  for (const DefaultRow& row : kernel.defaults) {
    if (row.condition && !row.condition->truth(scope)) continue;
    if (satisfies(kernel, problem, with_values(kernel, row), device)) return &row;
  }
  return nullptr;
}

Configuration default_configuration(const KernelTemplate& kernel, const Problem& problem, const DeviceInfo& device) {
  const auto* const row = default_row(kernel, problem, device);
  return row != nullptr ? with_values(kernel, *row) : default_configuration(kernel);
}

}  // namespace attune::spec
