#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "attune/decision.hpp"
#include "tuner/spec/device_info.hpp"

namespace attune::runtime {

/// What a rank's layer holds that can decide a plan.
struct LayerDigest {
  std::string place;          ///< the file; for people, never compared
  std::uint64_t results = 0;  ///< best rows that count
  std::string digest;         ///< of those, or of why they cannot be read
};

/// What a rank tells the others when its Runtime is made: all that decides plans and is known then. The device is not; it comes with
/// proposals.
struct RankOpening {
  std::string attune;                                 ///< version
  std::string failure = {};                           ///< the Runtime could not be made; else empty
  std::string options = {};                           ///< those that decide plans, in words
  std::map<std::string, std::string> templates = {};  ///< content by name
  std::vector<LayerDigest> layers = {};               ///< in their order, without those that hold nothing that counts
};

/// Farther than any sizes are from each other: there is no donor, or it has other sizes.
inline constexpr double kNoDistance = 1e9;

/// What a rank would dispatch a problem with if it were alone, and the part of Decision that says why.
struct Proposal {
  Tier tier = Tier::Default;
  std::string configuration;  ///< canonical JSON
  std::string donor_problem;
  std::string donor_device;
  double median_us = 0;
  /// Of the donor's sizes from the asked ones. The rank tells it, as another's logarithms may differ in their last digit.
  double distance = kNoDistance;
  std::string layer;  ///< database file it came from; empty for Tier::Default
};

/// What a rank tells the others at the first plan of a problem.
struct RankPlan {
  std::string template_hash;
  std::optional<spec::DeviceInfo> device;  ///< nothing: it could not be read
  std::optional<Proposal> proposal;
  std::string failure;  ///< why there is none; else empty
};

[[nodiscard]] nlohmann::json to_json(const RankOpening& opening);
[[nodiscard]] nlohmann::json to_json(const RankPlan& plan);
/// Throws: Error naming the field that is missing, mistyped or out of bounds.
[[nodiscard]] RankOpening opening_from_json(const nlohmann::json& json);
[[nodiscard]] RankPlan plan_from_json(const nlohmann::json& json);

}  // namespace attune::runtime
