#include "tuner/session/tune/launch_promise.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "attune/error.hpp"

namespace attune::session {
namespace {

double product(const std::array<std::uint32_t, 3>& of) { return static_cast<double>(of[0]) * of[1] * of[2]; }

double busy_share(const spec::ResolvedLaunch& launch, const spec::DeviceInfo& device) {
  const double threads = product(launch.block), sms = device.sm_count, threads_per_sm = device.max_threads_per_sm;
  if (sms <= 0 || threads_per_sm <= 0) return 1;  // a device of which little is known
  double blocks_per_sm = std::min<double>(device.max_blocks_per_sm, threads_per_sm / threads);
  if (launch.shared_bytes > 0)
    blocks_per_sm = std::min(blocks_per_sm, static_cast<double>(device.shared_per_sm_bytes) / launch.shared_bytes);
  const double resident = std::min(product(launch.grid), sms * std::max(1.0, std::floor(blocks_per_sm)));
  return std::min(1.0, resident * threads / (sms * threads_per_sm));
}

}  // namespace

double launch_promise(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::Configuration& configuration,
                      const spec::DeviceInfo& device) {
  try {
    const auto plan = spec::resolve(kernel, problem, configuration, device);
    double most = 0;
    for (const auto* launch : spec::launches_of(plan)) most = std::max(most, busy_share(*launch, device));
    return most;
  } catch (const SpecError&) {  // the search meets it, and tells
    return 0;
  }
}

}  // namespace attune::session
