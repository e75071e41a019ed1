#include "tuner/runtime/candidate.hpp"

#include <cstdlib>
#include <tuple>

#include "tuner/base/json.hpp"

namespace attune::runtime {

bool nearer(const Candidate& a, const Candidate& b) {
  const auto rank = [](const Candidate& c) {
    return std::tie(c.tier, c.capability_distance, c.newer_architecture, c.size_distance, c.sm_distance, c.layer, c.row.device_key,
                    c.row.problem);
  };
  return rank(a) < rank(b);
}

spec::DeviceInfo donor_of(const db::BestRow& row, spec::DeviceInfo described) {
  if (const int khz = spec::memory_clock_of(row.detail_json); khz > 0) described.memory_clock_khz = khz;
  return described;
}

void set_tier(Candidate& candidate, const spec::DeviceInfo& donor, const spec::DeviceInfo& device, const std::string& device_key) {
  candidate.device_name = donor.name;
  candidate.device_difference = donor.hard_difference(device);
  candidate.sm_distance = std::abs(donor.sm_count - device.sm_count);
  const bool same_key = candidate.row.device_key == device_key;
  const std::string memory = same_key ? donor.memory_difference(device) : std::string();
  if (same_key && !memory.empty()) {
    candidate.tier = Tier::SiblingDevice;
    candidate.device_difference = memory;
  } else if (same_key) {
    candidate.tier = candidate.size_distance > 0 ? Tier::NearestSize : Tier::ExactSize;
  } else if (donor.architecture == device.architecture) {
    candidate.tier = Tier::SiblingDevice;
  } else {
    candidate.tier = Tier::OtherDevice;
    candidate.capability_distance = std::abs(donor.compute_capability - device.compute_capability);
    candidate.newer_architecture = donor.compute_capability > device.compute_capability;
  }
}

std::string source_key_of(const db::BestRow& row) {
  const nlohmann::json detail = base::try_parse_json(row.detail_json);
  const auto key = detail.is_object() ? detail.find("source_key") : detail.end();
  return key != detail.end() && key->is_string() ? key->get<std::string>() : std::string();
}

}  // namespace attune::runtime
