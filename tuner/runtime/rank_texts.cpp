#include "tuner/runtime/rank_texts.hpp"

#include <algorithm>
#include <array>

#include "attune/error.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/json_fields.hpp"

namespace attune::runtime {
namespace {

using nlohmann::json;

constexpr std::size_t kMostTemplates = 4096;
constexpr std::size_t kMostLayers = 256;
constexpr std::size_t kMostKeyBytes = 64;
constexpr std::size_t kMostNameBytes = 4096;  // a path, too
constexpr std::size_t kMostValueBytes = 65536;

constexpr std::array kTiers{Tier::ExactSize,   Tier::NearestSize,    Tier::SiblingDevice,
                            Tier::OtherDevice, Tier::RelatedProblem, Tier::Default};

Tier tier_from(const base::JsonFields& fields) {
  const std::string text = fields.text("tier", kMostKeyBytes);
  const auto found = std::find_if(kTiers.begin(), kTiers.end(), [&](Tier tier) { return text == name(tier); });
  if (found == kTiers.end()) fields.fail("tier", "a tier of the lookup", json(text));
  return *found;
}

json to_json(const Proposal& proposal) {
  return {{"tier", name(proposal.tier)},
          {"configuration", proposal.configuration},
          {"donor_problem", proposal.donor_problem},
          {"donor_device", proposal.donor_device},
          {"median_us", proposal.median_us},
          {"distance", proposal.distance},
          {"layer", proposal.layer}};
}

Proposal proposal_from(const base::JsonFields& fields) {
  Proposal proposal;
  proposal.tier = tier_from(fields);
  proposal.configuration = fields.text("configuration", kMostValueBytes);
  proposal.donor_problem = fields.text("donor_problem");
  proposal.donor_device = fields.text("donor_device", kMostNameBytes);
  proposal.median_us = fields.number("median_us");
  proposal.distance = fields.number("distance", 0, kNoDistance);
  proposal.layer = fields.text("layer", 2 * kMostNameBytes);
  return proposal;
}

LayerDigest layer_from(const json& object) {
  const base::JsonFields fields(object, "", "layers.");
  return {fields.text("place", 2 * kMostNameBytes), fields.integer<std::uint64_t>("results"), fields.text("digest", kMostKeyBytes)};
}

}  // namespace

json to_json(const RankOpening& opening) {
  json layers = json::array();
  for (const auto& layer : opening.layers) {
    layers.push_back({{"place", layer.place}, {"results", layer.results}, {"digest", layer.digest}});
  }
  return {{"attune", opening.attune},
          {"failure", opening.failure},
          {"options", opening.options},
          {"templates", opening.templates},
          {"layers", std::move(layers)}};
}

json to_json(const RankPlan& plan) {
  json object = {{"template", plan.template_hash}, {"failure", plan.failure}};
  if (plan.device) object["device"] = plan.device->to_json();
  if (plan.proposal) object["proposal"] = to_json(*plan.proposal);
  return object;
}

RankOpening opening_from_json(const json& object) {
  const base::JsonFields fields(object, "");
  RankOpening opening;
  opening.attune = fields.text("attune", kMostKeyBytes);
  opening.failure = fields.text("failure");
  opening.options = fields.text("options", kMostNameBytes);
  const json& templates = fields.at("templates");
  if (!templates.is_object() || templates.size() > kMostTemplates) fields.fail("templates", "an object of at most 4096 members", templates);
  for (const auto& [name, content] : templates.items()) {
    if (!content.is_string()) fields.fail("templates", "an object of texts", templates);
    opening.templates[name] = content.get<std::string>();
  }
  const json& layers = fields.array("layers");
  if (layers.size() > kMostLayers) fields.fail("layers", "at most 256 layers", layers);
  for (const auto& layer : layers) opening.layers.push_back(layer_from(layer));
  return opening;
}

RankPlan plan_from_json(const json& object) {
  const base::JsonFields fields(object, "");
  RankPlan plan;
  plan.template_hash = fields.text("template", kMostKeyBytes);
  plan.failure = fields.text("failure");
  if (fields.has("device")) plan.device = spec::DeviceInfo::from_json(fields.at("device"));
  if (fields.has("proposal")) plan.proposal = proposal_from(fields.object("proposal"));
  if (plan.proposal && !plan.device) fields.fail("it proposes a configuration and names no device");
  return plan;
}

}  // namespace attune::runtime
