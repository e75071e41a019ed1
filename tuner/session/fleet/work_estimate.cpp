#include "tuner/session/fleet/work_estimate.hpp"

#include <algorithm>

#include "tuner/measure/measurement.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace attune::session {
namespace {

/// What must move for one call; where the template does not say, four bytes an element.
double estimated_bytes(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& device) {
  if (kernel.work.bytes) {
    const auto scope = spec::make_scope(kernel, problem, spec::default_configuration(kernel), device);
    return static_cast<double>(kernel.work.bytes->integer(scope));
  }
  double elements = 1;
  for (const auto& [axis, size] : problem.sizes) elements *= static_cast<double>(size);
  return 4 * elements;
}

}  // namespace

double estimated_work(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& device) {
  constexpr double kLaunchUs = 2, kBytesPerUs = 3e6, kSamples = 6;
  constexpr double kPasses = 12;  // of verification over the data: it is filled, called on, and checked
  const double call_us = kLaunchUs + estimated_bytes(kernel, problem, device) / kBytesPerUs;
  return kSamples * std::max(call_us, measure::batch_target_us(call_us)) + kPasses * call_us;
}

}  // namespace attune::session
