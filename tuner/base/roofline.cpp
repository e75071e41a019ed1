#include "tuner/base/roofline.hpp"

#include "tuner/base/json.hpp"

namespace attune::base {
namespace {

/// Single-precision lanes of an SM; 0 where we do not know.
int lanes_of(std::int64_t compute_capability) {
  switch (compute_capability) {
    case 60:
    case 80:
      return 64;
    case 61:
    case 86:
    case 87:
    case 89:
      return 128;
    default:
      break;
  }
  switch (compute_capability / 10) {
    case 7:
      return 64;
    case 9:
    case 10:
    case 11:
    case 12:
      return 128;
    default:
      return 0;
  }
}

}  // namespace

double peak_operations_per_s(std::int64_t compute_capability, std::int64_t sm_count, std::int64_t sm_clock_khz) {
  if (sm_count <= 0 || sm_clock_khz <= 0) return 0;
  return 2.0 * lanes_of(compute_capability) * static_cast<double>(sm_count) * static_cast<double>(sm_clock_khz) * 1e3;
}

double peak_operations_per_s(const nlohmann::json& device) {
  const auto figure = [&](const char* name) { return member_or(device, name, std::int64_t{0}); };
  return peak_operations_per_s(figure("compute_capability"), figure("sm_count"), figure("sm_clock_khz"));
}

bool arithmetic_matters(double bytes, double operations) { return operations > 0 && operations > bytes; }

}  // namespace attune::base
