#pragma once
#include <cstddef>
#include <string>

#include "attune/decision.hpp"
#include "db/records.hpp"
#include "tuner/spec/device_info.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::runtime {

/// A best row with its place in the lookup.
struct Candidate {
  db::BestRow row;
  std::size_t layer = 0;
  Tier tier = Tier::Default;
  std::string device_name;
  std::string device_difference;  ///< Decision::device_difference
  int capability_distance = 0;
  bool newer_architecture = false;
  double size_distance = 0;
  int sm_distance = 0;
  spec::Problem problem;
  std::string forecast;      ///< how it was chosen between tuned sizes
  bool generalised = false;  ///< what won is specialised on its own sizes; the row names its general form, and no time
  std::string specialised;   ///< what won, then
  double specialised_us = 0;
};

/// The order of the lookup; its last criteria only make it total, so that equal databases give equal choices.
[[nodiscard]] bool nearer(const Candidate& a, const Candidate& b);

/// The device that a row was measured on, as far as is known: `described` by the layer under its key, with the memory clock that
/// the row itself tells. Devices with other memory may share a key.
[[nodiscard]] spec::DeviceInfo donor_of(const db::BestRow& row, spec::DeviceInfo described);

/// Tiers by device; of one key and one memory clock they are one. Sizes decide between the first two. Requires: row and size_distance are
/// set.
void set_tier(Candidate& candidate, const spec::DeviceInfo& donor, const spec::DeviceInfo& device, const std::string& device_key);

/// The key of the row's stored cubin; empty where the detail does not say. Ask for the chosen row only: its detail is long.
[[nodiscard]] std::string source_key_of(const db::BestRow& row);

}  // namespace attune::runtime
