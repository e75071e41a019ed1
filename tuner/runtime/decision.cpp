#include <fmt/core.h>

#include "attune/runtime.hpp"

namespace attune {
namespace {

const char* meaning(Tier tier) {
  switch (tier) {
    case Tier::ExactSize:
      return "tuned on this device at this size";
    case Tier::NearestSize:
      return "tuned on this device at another size";
    case Tier::SiblingDevice:
      return "tuned on another device of this architecture";
    case Tier::OtherDevice:
      return "tuned on another architecture";
    case Tier::Default:
      return "the template's default; nothing usable was recorded";
  }
  return "";
}

}  // namespace

const char* name(Tier tier) {
  switch (tier) {
    case Tier::ExactSize:
      return "exact size";
    case Tier::NearestSize:
      return "nearest size";
    case Tier::SiblingDevice:
      return "sibling device";
    case Tier::OtherDevice:
      return "other device";
    case Tier::Default:
      return "default";
  }
  return "";
}

std::string describe(const Decision& decision) {
  std::string text = fmt::format("tier:          {} ({})\nconfiguration: {}", name(decision.tier),
                                 meaning(decision.tier), decision.configuration);
  if (decision.tier != Tier::Default) {
    text += fmt::format("\nrecord:        {} on {}, {:.4g} us, {}{}\nlayer:         {}", decision.donor_problem,
                        decision.donor_device, decision.median_us, decision.recorded_at,
                        decision.aged ? " (aged: recorded under another driver)" : "", decision.layer);
  }
  if (!decision.cubin_source.empty()) text += "\ncode:          " + decision.cubin_source;
  if (!decision.tuning.empty()) text += "\ntuning:        " + decision.tuning;
  for (const auto& line : decision.passed_over) text += "\npassed over:   " + line;
  return text;
}

}  // namespace attune
