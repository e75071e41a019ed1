#include "tuner/runtime/lookup.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "attune/error.hpp"
#include "tuner/runtime/between_sizes.hpp"
#include "tuner/runtime/candidate_rows.hpp"
#include "tuner/spec/launch_identity.hpp"

namespace attune::runtime {
namespace {

/// Nearer results that a better forecast passes over one by one in words; the others are counted.
constexpr std::size_t kMostTold = 3;

/// Only an analysis: what is wrong with a configuration is told when it is tried.
std::optional<LaunchFacts> facts_of(const spec::KernelTemplate& kernel, const spec::DeviceInfo& device, const std::string& text,
                                    const spec::Problem& problem) {
  try {
    const auto plan = spec::resolve(kernel, problem, spec::configuration_from_text(kernel, text), device);
    const auto launches = spec::launches_of(plan);
    if (launches.empty()) return std::nullopt;
    return LaunchFacts{launches.size() == 1 && launches.front()->grid == std::array<std::uint32_t, 3>{1, 1, 1}};
  } catch (const UsageError&) {
  } catch (const SpecError&) {
  }
  return std::nullopt;
}

std::optional<std::string> key_of(const spec::KernelTemplate& kernel, const spec::DeviceInfo& device, const std::string& text,
                                  const spec::Problem& problem) {
  try {
    const auto configuration = spec::configuration_from_text(kernel, text);
    auto key = spec::key_of(kernel, problem, configuration, device);
    if (!key) return std::nullopt;
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {  // of other code it would be another launch
      if (kernel.parameters[i].binding != spec::Binding::Launch) *key += fmt::format(" {}", configuration.index[i]);
    }
    return key;
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

class Lookup {
 public:
  Lookup(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& device, const std::vector<Layer>& layers,
         const Wanted& wanted, Evidence& evidence)
      : kernel_(kernel),
        problem_(problem),
        family_(problem),
        device_(device),
        device_key_(device.hard_key()),
        layers_(layers),
        policy_(wanted.policy),
        objective_(objective_of(kernel, wanted)),
        evidence_(evidence),
        rows_(kernel, problem, device, layers, objective_, passed_over_) {
    evidence_.begin(layers, kernel.content_hash, device_key_, policy_);
  }

  /// The problem's own family first; then those of problems that stand in for it, each over all tiers.
  Choice walk() {
    if (auto choice = climb()) return finished(std::move(*choice));
    for (auto& related : spec::related_problems(kernel_, problem_)) {
      family_ = std::move(related);
      related_ = true;
      if (auto choice = climb()) return finished(std::move(*choice));
    }
    return finished(take_default());
  }

 private:
  Choice finished(Choice choice) {
    choice.decision.passed_over = std::move(passed_over_);
    return choice;
  }

  /// The nearest usable result of the family.
  std::optional<Choice> climb() {
    if (auto exact = try_exact()) return exact;
    const std::vector<Candidate> candidates = rows_.of(family_, evidence_);
    if (candidates.empty() && !related_) explain_absence();
    // Several configurations of this device may be tried; how they rank between tuned sizes is only looked up when none
    // was tuned for exactly these.
    const auto first = std::find_if(candidates.begin(), candidates.end(), [](const auto& c) { return c.tier == Tier::NearestSize; });
    for (auto at = candidates.begin(); at != candidates.end(); ++at) {
      if (at == first) {
        if (auto forecast = try_between(first, candidates.end())) return forecast;
      }
      if (gives_way(*at)) {
        tell_gives_way(at, candidates.end());
        break;  // what follows is of other devices as well
      }
      if (auto choice = try_candidate(*at)) return choice;
    }
    return std::nullopt;
  }

  /// What a table chose for the problem was chosen for any device. Of another one only what was tuned for this very problem, of the same
  /// architecture, is surer.
  [[nodiscard]] bool gives_way(const Candidate& candidate) const {
    const bool elsewhere =
        candidate.tier == Tier::OtherDevice || (candidate.tier == Tier::SiblingDevice && (related_ || candidate.size_distance > 0));
    return elsewhere && spec::default_row(kernel_, problem_, device_) != nullptr;
  }
  void tell_gives_way(std::vector<Candidate>::const_iterator first, std::vector<Candidate>::const_iterator end) {
    const auto more = end - first - 1;
    passed_over_.push_back(
        fmt::format("{}{}: the template's table of defaults has a row for this problem, which stands before results of other devices",
                    place(*first), more > 0 ? fmt::format(" and {} more", more) : ""));
  }

  /// The result of exactly these sizes on this device, found by its key: a family may have a thousand others, and reading
  /// them all takes far longer.
  std::optional<Choice> try_exact() {
    if (!objective_) return std::nullopt;
    const db::Query query{kernel_.content_hash, std::nullopt, spec::to_text(family_), device_key_, policy_, *objective_};
    const auto mark = rows_.mark();
    for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
      const auto candidate = rows_.best_of(layer, family_, query);
      // A device with other memory may have this key: then a size of this device comes first.
      if (!candidate || candidate->tier != Tier::ExactSize) continue;
      if (auto choice = try_candidate(*candidate)) return choice;
    }
    rows_.return_to(mark);  // the walk over all rows meets and tells the same again
    return std::nullopt;
  }

  /// What the candidate is to the asked problem.
  [[nodiscard]] Tier tier_of(const Candidate& candidate) const { return related_ ? Tier::RelatedProblem : candidate.tier; }

  [[nodiscard]] std::string place(const Candidate& candidate) const {
    return fmt::format("{}: {} on {} ({})", name(tier_of(candidate)), candidate.row.problem, candidate.device_name,
                       layers_[candidate.layer].path.string());
  }

  /// The best forecast of those that are usable here; nothing when none can be made.
  std::optional<Choice> try_between(std::vector<Candidate>::const_iterator begin, std::vector<Candidate>::const_iterator end) {
    std::vector<TunedSize> results;
    for (; begin != end && begin->tier == Tier::NearestSize; ++begin) {
      results.push_back({&begin->problem, &begin->row, &layers_[begin->layer].database, begin->size_distance,
                         begin->generalised ? &begin->specialised : nullptr, begin->specialised_us});
    }
    const auto first = begin - static_cast<std::ptrdiff_t>(results.size());
    std::vector<Forecast> forecasts;
    // They are of times, which are not what results of another objective are best by: the nearest of them serves.
    try {
      if (!kernel_.objective)
        forecasts = forecast_between(
            problem_, results,
            {[&](const spec::Problem& at) { return spec::to_text(kernel_, spec::default_configuration(kernel_, at, device_)); },
             [&](const std::string& configuration, const spec::Problem& at) { return facts_of(kernel_, device_, configuration, at); },
             [&](const std::string& configuration, const spec::Problem& at) { return key_of(kernel_, device_, configuration, at); },
             [&](const spec::Problem& at) { return spec::default_row(kernel_, at, device_) != nullptr; }},
            evidence_);
    } catch (const DatabaseError& error) {  // the nearest result needs no more reading
      passed_over_.push_back(fmt::format("forecasts between tuned sizes: {}", error.what()));
    }
    const std::size_t told = passed_over_.size();
    for (const auto& forecast : forecasts) {
      Candidate candidate = first[static_cast<std::ptrdiff_t>(forecast.donor)];
      candidate.forecast = forecast.basis;
      if (!forecast.won) {
        candidate.row.configuration = forecast.configuration;
        candidate.row.cubin_key.clear();
        candidate.row.median_us = 0;  // the donor's time is not this configuration's
        candidate.generalised = false;
      }
      if (auto choice = try_candidate(candidate)) {
        for (std::size_t i = 0; i < std::min(forecast.donor, kMostTold); ++i) {
          tell_slower(first[static_cast<std::ptrdiff_t>(i)], forecast, forecasts);
        }
        if (forecast.donor > kMostTold) {
          passed_over_.push_back(fmt::format("{} more results at sizes nearer than {}: expected to be slower or not measured around",
                                             forecast.donor - kMostTold, candidate.row.sizes_json));
        }
        return choice;
      }
    }
    passed_over_.resize(told);  // the tier itself is about to say the same of each
    return std::nullopt;
  }

  /// Why a nearer result than the chosen one was not taken.
  void tell_slower(const Candidate& nearer, const Forecast& chosen, const std::vector<Forecast>& forecasts) {
    const auto own = std::find_if(forecasts.begin(), forecasts.end(),
                                  [&](const auto& forecast) { return forecast.configuration == nearer.row.configuration; });
    if (own != forecasts.end() && &*own < &chosen) return;  // it was refused, and that was told
    passed_over_.push_back(
        place(nearer) + (own == forecasts.end()
                             ? std::string(": its configuration was not measured at the other tuned sizes around")
                             : fmt::format(": expected to take {:.4g} us here, give or take {:.0f} %; the chosen one {:.4g} us, {:.0f} %",
                                           own->expected_us, 100 * own->deviation, chosen.expected_us, 100 * chosen.deviation)));
  }

  std::optional<Choice> try_candidate(const Candidate& candidate) {
    const auto refuse = [&](const std::string& reason) {
      passed_over_.push_back(place(candidate) + ": " + reason);
      return std::nullopt;
    };
    Choice choice;
    try {
      choice.configuration = spec::configuration_from_text(kernel_, candidate.row.configuration);
      if (const auto violated = violated_constraint(kernel_, problem_, choice.configuration, device_)) {
        return refuse(fmt::format("{} violates '{}' here", candidate.row.configuration, *violated));
      }
      choice.plan = spec::resolve(kernel_, problem_, choice.configuration, device_);
    } catch (const UsageError& error) {
      return refuse(fmt::format("its configuration is not in the template's space: {}", error.what()));
    } catch (const SpecError& error) {
      return refuse(fmt::format("{} does not resolve here: {}", candidate.row.configuration, error.what()));
    }
    fill(choice, candidate);
    return choice;
  }

  void fill(Choice& choice, const Candidate& candidate) const {
    const auto& row = candidate.row;
    choice.layer = candidate.layer;
    if (!related_) choice.cubin_key = row.cubin_key;  // of another source otherwise
    choice.source_key = source_key_of(row);
    auto& decision = choice.decision;
    decision.tier = tier_of(candidate);
    decision.configuration = spec::to_text(kernel_, choice.configuration);
    decision.donor_problem = row.problem;
    decision.donor_device = candidate.device_name;
    decision.device_difference = candidate.device_difference;
    decision.donor_driver = row.driver;
    decision.recorded_at = row.recorded_at;
    decision.median_us = related_ ? 0 : row.median_us;  // another problem's time is not this one's
    decision.forecast = candidate.forecast;
    if (candidate.generalised) {
      decision.forecast +=
          fmt::format("{}its result is specialised on {}, this is its general form", decision.forecast.empty() ? "" : "; ", row.sizes_json);
    }
    decision.unverified = row.objective == db::kUnverifiedTime;
    decision.aged = !row.driver.empty() && !device_.driver.empty() && row.driver != device_.driver;
    decision.layer = layers_[candidate.layer].path.string();
  }

  /// Nothing was recorded for this very template and family: tells what near misses the layers hold.
  void explain_absence() {
    for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
      rows_.read(layer, [&] { count_near_misses(layers_[layer]); });
    }
  }

  void count_near_misses(const Layer& layer) {
    std::uint64_t other_version = 0, other_policy = 0;
    for (const auto& count : layer.database.best_counts(kernel_.name, spec::family_text(problem_))) {
      if (count.template_hash != kernel_.content_hash) {
        other_version += count.rows;
      } else if (count.policy != policy_) {
        other_policy += count.rows;
      }
    }
    if (other_version > 0) {
      passed_over_.push_back(
          fmt::format("{}: {} result(s) belong to another version of the template '{}'", layer.path.string(), other_version, kernel_.name));
    }
    if (other_policy > 0) {
      passed_over_.push_back(
          fmt::format("{}: {} result(s) were tuned for another policy than {}", layer.path.string(), other_policy, policy_));
    }
  }

  Choice take_default() {
    Choice choice;
    choice.configuration = spec::default_configuration(kernel_, problem_, device_);
    choice.decision.configuration = spec::to_text(kernel_, choice.configuration);
    if (const auto violated = violated_constraint(kernel_, problem_, choice.configuration, device_)) {
      throw UsageError(
          fmt::format("failed choosing a configuration of '{}' for {} on {}: no usable tuning result, and the "
                      "default {} violates '{}'; tune this problem (`attune tune {}`) or change the default",
                      kernel_.name, spec::to_text(problem_), device_.name, choice.decision.configuration, *violated, kernel_.name));
    }
    choice.plan = spec::resolve(kernel_, problem_, choice.configuration, device_);
    return choice;
  }

  const spec::KernelTemplate& kernel_;
  const spec::Problem& problem_;  ///< as asked
  spec::Problem family_;          ///< whose results are looked through: the asked problem's, or one's that stands in for it
  bool related_ = false;          ///< the latter
  const spec::DeviceInfo& device_;
  const std::string device_key_;
  const std::vector<Layer>& layers_;
  const std::string& policy_;
  const std::optional<std::string> objective_;
  Evidence& evidence_;
  std::vector<std::string> passed_over_;
  CandidateRows rows_;
};

}  // namespace

std::optional<std::string> objective_of(const spec::KernelTemplate& kernel, const Wanted& wanted) {
  if (spec::has_reference(kernel)) return db::kTime;
  return wanted.unverified ? std::make_optional(db::kUnverifiedTime) : std::nullopt;
}

double size_distance(const spec::Problem& a, const spec::Problem& b) {
  double squares = 0;
  for (const auto& [axis, size] : a.sizes) {
    const double difference = log_size(size) - log_size(b.sizes.at(axis));
    squares += difference * difference;
  }
  return std::sqrt(squares);
}

std::optional<std::string> violated_constraint(const spec::KernelTemplate& kernel, const spec::Problem& problem,
                                               const spec::Configuration& configuration, const spec::DeviceInfo& device) {
  const auto scope = spec::make_scope(kernel, problem, configuration, device);
  for (const auto& constraint : kernel.constraints) {
    if (!constraint.expression.truth(scope)) return constraint.expression.text();
  }
  return std::nullopt;
}

Choice choose(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& device,
              const std::vector<Layer>& layers, const Wanted& wanted) {
  Evidence evidence;
  return choose(kernel, problem, device, layers, wanted, evidence);
}

Choice choose(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& device,
              const std::vector<Layer>& layers, const Wanted& wanted, Evidence& evidence) {
  spec::validate(kernel, problem);
  return Lookup(kernel, problem, device, layers, wanted, evidence).walk();
}

}  // namespace attune::runtime
