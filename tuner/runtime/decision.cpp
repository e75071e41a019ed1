#include <fmt/core.h>

#include <ctime>

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
    case Tier::RelatedProblem:
      return "tuned for another problem, which stands in for this one";
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
    case Tier::RelatedProblem:
      return "related problem";
    case Tier::Default:
      return "default";
  }
  return "";
}

std::string age_in_words(const std::string& recorded_at, std::chrono::system_clock::time_point now) {
  using namespace std::chrono;
  std::tm utc{};
  if (::strptime(recorded_at.c_str(), "%Y-%m-%dT%H:%M:%S", &utc) == nullptr) return "of unknown age";
  const auto age = floor<seconds>(now) - system_clock::from_time_t(::timegm(&utc));
  if (age < -minutes(1)) return "from the future: a clock is wrong";
  const auto old = [](auto count, const char* unit) { return fmt::format("{} {}{} old", count, unit, count == 1 ? "" : "s"); };
  if (age < minutes(1)) return "just recorded";
  if (age < hours(1)) return old(floor<minutes>(age).count(), "minute");
  if (age < days(1)) return old(floor<hours>(age).count(), "hour");
  if (age < days(60)) return old(floor<days>(age).count(), "day");
  if (age < years(2)) return old(floor<months>(age).count(), "month");
  return old(floor<years>(age).count(), "year");
}

std::string describe(const Decision& decision, std::chrono::system_clock::time_point now) {
  std::string text =
      fmt::format("tier:          {} ({})\nconfiguration: {}", name(decision.tier), meaning(decision.tier), decision.configuration);
  if (decision.tier != Tier::Default) {
    text += fmt::format("\nrecord:        {} on {}", decision.donor_problem, decision.donor_device);
    if (decision.median_us > 0) text += fmt::format(", {:.4g} us", decision.median_us);
    if (decision.unverified) text += ", unverified";
    if (!decision.device_difference.empty()) text += "\ndevice:        " + decision.device_difference;
    text += fmt::format("\nrecorded:      {}, {}{}\nlayer:         {}", decision.recorded_at, age_in_words(decision.recorded_at, now),
                        decision.aged ? fmt::format(" (aged: under driver {})", decision.donor_driver) : "", decision.layer);
  }
  if (!decision.forecast.empty()) text += "\nforecast:      " + decision.forecast;
  if (!decision.cubin_source.empty()) text += "\ncode:          " + decision.cubin_source;
  if (!decision.agreement.empty()) text += "\nagreement:     " + decision.agreement;
  if (!decision.tuning.empty()) text += "\ntuning:        " + decision.tuning;
  for (const auto& line : decision.passed_over) text += "\npassed over:   " + line;
  return text;
}

}  // namespace attune
