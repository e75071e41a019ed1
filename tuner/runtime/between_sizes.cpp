#include "tuner/runtime/between_sizes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "tuner/base/json.hpp"
#include "tuner/runtime/plane.hpp"

namespace attune::runtime {
namespace {

using nlohmann::json;

// Chosen by leaving sizes out of measured grids, docs/decisions/0013-between-ragged-sizes.md.
constexpr std::size_t kNeighbours = 12;
constexpr double kNarrowest = 0.3;  ///< a size so many octaves away has a weight of 1/e
constexpr double kOfSpacing = 0.6;  ///< the same over the distance of the second nearest size, where sizes lie far apart
/// How far the slopes of configurations lie from that of the default.
constexpr double kSlopeApart = 0.08;
/// Deviation of a forecast that is none: octaves away from all that was measured.
constexpr double kUseless = 0.25;
/// A forecast takes the default's place where Forecast::cautious_us is below this much of what is expected of the default.
constexpr double kClearlyFaster = 0.995;
/// A default that was chosen for the problem gives way to a forecast this sure, even if nothing is known about the default.
constexpr double kSure = 0.1;
/// So near, in octaves, what wins somewhere does well here; each octave beyond adds this much doubt, or more beside a default that was
/// chosen for the problem: a table changes between sizes because times turn there, which no plane through its neighbours foresees.
constexpr double kNear = 0.75, kDoubtAnOctave = 0.05, kDoubtBesideChosen = 0.5;
/// Added for every octave, of any size, that lies beyond the sizes where a winner was measured: its times may jump there.
constexpr double kDoubtBeyond = 0.15;
/// Farther winners are no better guesses, and each costs reading its records.
constexpr std::size_t kMostCandidates = 64;

/// What was measured at one tuned size.
class Measured {
 public:
  explicit Measured(const TunedSize& tuned) : winner_(tuned.specialised != nullptr ? *tuned.specialised : tuned.row->configuration) {
    const auto& row = *tuned.row;
    tuned.database->for_each_record({row.template_hash, std::nullopt, row.problem, row.device_key, row.policy},
                                    [&](const db::RecordRow& record) {
                                      if (record.outcome == "ok" && record.median_us > 0)
                                        medians_us_.emplace(record.configuration, record.median_us);
                                    });
    read_run_off(row.detail_json);
    winner_us_ = median_us(winner_);
    const double run_off_us = tuned.specialised != nullptr ? tuned.specialised_us : row.median_us;
    if (!winner_us_ && run_off_us > 0) winner_us_ = run_off_us;
  }

  /// What it took; nothing when it was not measured here, or failed. Of those that ran off, the run-off's ratios are
  /// applied to the winner's time: they are surer than what the search measured one after the other.
  [[nodiscard]] std::optional<double> time_us(const std::string& configuration) const {
    const auto ratio = ratios_.find(configuration);
    if (ratio != ratios_.end() && winner_us_) return ratio->second / winner_ratio_ * *winner_us_;
    return configuration == winner_ ? winner_us_ : median_us(configuration);
  }
  /// The same of launches, under whatever name they were measured. `key_of` a configuration's launches here.
  [[nodiscard]] std::optional<double> time_of_launches(const std::string& key,
                                                       const std::function<std::optional<std::string>(const std::string&)>& key_of) {
    if (!names_) {
      names_.emplace();
      for (const auto& [name, us] : medians_us_) {
        if (const auto own = key_of(name)) names_->emplace(*own, name);
      }
    }
    const auto name = names_->find(key);
    return name == names_->end() ? std::nullopt : time_us(name->second);
  }

 private:
  /// A detail that cannot be read leaves what the search measured.
  void read_run_off(const std::string& detail_json) {
    try {
      const json detail = base::parse_json(detail_json);
      for (const char* list : {"finalists", "left"}) {
        if (!detail.contains(list)) continue;
        for (const auto& finalist : detail.at(list)) {
          const double ratio = finalist.at("ratio");
          if (ratio > 0) ratios_.emplace(finalist.at("configuration").get<std::string>(), ratio);
        }
      }
    } catch (const json::exception&) {
      ratios_.clear();
    }
    if (const auto winner = ratios_.find(winner_); winner != ratios_.end()) winner_ratio_ = winner->second;
  }

  /// From the search: what ran off has better figures, but only among each other.
  [[nodiscard]] std::optional<double> median_us(const std::string& configuration) const {
    const auto found = medians_us_.find(configuration);
    return found == medians_us_.end() ? std::nullopt : std::optional(found->second);
  }

  const std::string& winner_;
  std::map<std::string, double> medians_us_;                 ///< of what worked
  std::map<std::string, double> ratios_;                     ///< out of the run-off
  std::optional<std::map<std::string, std::string>> names_;  ///< by launches, once they were asked for
  double winner_ratio_ = 1;
  std::optional<double> winner_us_;
};

/// How the configurations did at one tuned size: read when it is asked for what no decision has asked before.
class Neighbour {
 public:
  Neighbour(const TunedSize& tuned, const LaunchesAt& launches, Evidence& evidence)
      : tuned_(&tuned), launches_(&launches), evidence_(&evidence) {}

  [[nodiscard]] const Evidence::Known& known(const std::string& configuration) {
    const auto* const known = evidence_->find(*tuned_->database, tuned_->row->problem, configuration);
    return known != nullptr ? *known : evidence_->keep(*tuned_->database, tuned_->row->problem, configuration, read(configuration));
  }
  [[nodiscard]] const spec::Problem& problem() const { return *tuned_->problem; }
  [[nodiscard]] const std::string& sizes() const { return tuned_->row->sizes_json; }

 private:
  [[nodiscard]] Evidence::Known read(const std::string& configuration) {
    if (!measured_) measured_.emplace(*tuned_);
    auto us = measured_->time_us(configuration);
    if (!us) {
      const auto key_of = [this](const std::string& name) { return launches_->key(name, problem()); };
      if (const auto key = key_of(configuration)) us = measured_->time_of_launches(*key, key_of);
    }
    const auto facts = us ? launches_->facts(configuration, problem()) : std::nullopt;
    return facts ? Evidence::Known{us, facts->one_block} : Evidence::Known{};
  }

  const TunedSize* tuned_;
  const LaunchesAt* launches_;
  Evidence* evidence_;
  std::optional<Measured> measured_;
};

}  // namespace

double log_size(std::int64_t size) { return size > 0 ? std::log2(static_cast<double>(size)) : -1.0; }

namespace {

struct Weighted {
  Neighbour neighbour;
  double weight;         ///< the largest is 1
  std::string standard;  ///< the default there
};

/// The sizes that count, the weightiest first. One problem may be in several layers: the first one's row speaks for it.
std::vector<Weighted> neighbours_of(std::span<const TunedSize> results, const LaunchesAt& launches, Evidence& evidence) {
  std::vector<const TunedSize*> sizes;
  for (const auto& tuned : results) {
    if (sizes.size() == kNeighbours) break;
    const auto same = [&](const TunedSize* other) { return other->row->problem == tuned.row->problem; };
    if (std::none_of(sizes.begin(), sizes.end(), same)) sizes.push_back(&tuned);
  }
  if (sizes.size() < 2) return {};
  const double width = std::max(kNarrowest, kOfSpacing * sizes[1]->distance);
  const double nearest = std::pow(sizes[0]->distance / width, 2);
  std::vector<Weighted> neighbours;
  for (const auto* tuned : sizes)
    neighbours.push_back({Neighbour(*tuned, launches, evidence), std::exp(nearest - std::pow(tuned->distance / width, 2)),
                          launches.standard(*tuned->problem)});
  return neighbours;
}

/// Where a problem lies relative to the asked one: differences of the sizes' logarithms to base 2.
std::vector<double> place_of(const spec::Problem& problem, const spec::Problem& asked) {
  std::vector<double> place;
  for (const auto& [axis, size] : asked.sizes) place.push_back(log_size(problem.sizes.at(axis)) - log_size(size));
  return place;
}

/// How times of one kind of launch change with every size.
struct Slopes {
  std::optional<bool> one_block;  ///< nothing: of no kind
  std::vector<Slope> of_sizes;
};

struct Foreseen {
  Forecast forecast;
  Slopes slopes;
  double octaves_beyond;  ///< the sizes where it was measured
};

/// Whose times speak for a configuration.
enum class From { Itself, Defaults };
/// Which launches count.
enum class Kinds { Same, All };

/// What a configuration takes at the asked sizes. Nothing when no launch of the same kind was measured near enough.
/// `prior`: expected of launches of that kind.
std::optional<Foreseen> foreseen(const std::string& configuration, From from, const spec::Problem& asked, std::vector<Weighted>& neighbours,
                                 const LaunchesAt& launches, const Slopes& prior, Kinds kinds = Kinds::Same) {
  const auto here = launches.facts(configuration, asked);
  if (!here) return std::nullopt;
  Plane plane(prior.one_block == here->one_block ? prior.of_sizes : std::vector<Slope>(asked.sizes.size()));
  std::string basis;
  for (auto& [neighbour, weight, standard] : neighbours) {
    const auto& known = neighbour.known(from == From::Defaults ? standard : configuration);
    if (!known.us || (kinds == Kinds::Same && known.one_block != here->one_block)) continue;
    plane.add(weight, place_of(neighbour.problem(), asked), std::log(*known.us));
    if (weight >= kCountingWeight) basis += fmt::format("{}{:.4g} us at {}", basis.empty() ? "" : ", ", *known.us, neighbour.sizes());
  }
  if (plane.points() == 0) return std::nullopt;
  auto value = plane.at_origin();
  if (!(value.deviation <= kUseless)) return std::nullopt;  // so far away that its weight is 0, it is no number
  if (basis.empty()) basis = "sizes farther away";
  return Foreseen{{configuration, 0, false, std::exp(value.mean), value.deviation, std::move(basis)},
                  {here->one_block, std::move(value.slopes)},
                  plane.octaves_beyond()};
}

/// From the defaults around, and from its own times where another was the default somewhere: the one that is sure, or surer; the lower of
/// two that are.
std::optional<Foreseen> foreseen_standard(const std::string& standard, const spec::Problem& asked, std::vector<Weighted>& neighbours,
                                          const LaunchesAt& launches, Kinds kinds) {
  auto of_defaults = foreseen(standard, From::Defaults, asked, neighbours, launches, {}, kinds);
  if (std::all_of(neighbours.begin(), neighbours.end(), [&](const Weighted& neighbour) { return neighbour.standard == standard; }))
    return of_defaults;
  auto of_itself = foreseen(standard, From::Itself, asked, neighbours, launches, {}, kinds);
  if (!of_defaults || !of_itself) return of_defaults ? of_defaults : of_itself;
  const Forecast &defaults = of_defaults->forecast, &itself = of_itself->forecast;
  const bool both_sure = defaults.deviation < kSure && itself.deviation < kSure;
  const bool take_itself = both_sure ? itself.expected_us < defaults.expected_us : itself.deviation < defaults.deviation;
  return take_itself ? of_itself : of_defaults;
}

std::string told(const Forecast& forecast) {
  return fmt::format("{:.4g} us expected, give or take {:.0f} %, from {}", forecast.expected_us, 100 * forecast.deviation, forecast.basis);
}

std::string expected_of(const Forecast& forecast) {
  return fmt::format("{:.4g} us, give or take {:.0f} %", forecast.expected_us, 100 * forecast.deviation);
}

/// Adds to each what it was chosen over, or gave way to. `forecasts`: as they are taken.
void tell_choice(std::vector<Forecast>& forecasts, const std::string& standard) {
  const auto is_standard = [&](const Forecast& forecast) { return forecast.configuration == standard; };
  const auto stands = std::find_if(forecasts.begin(), forecasts.end(), is_standard);
  const auto rival = std::find_if_not(forecasts.begin(), forecasts.end(), is_standard);
  if (stands == forecasts.end()) return;
  for (Forecast& forecast : forecasts) {
    if (&forecast != &*stands && stands->expected_us > 0) forecast.basis += "; the default: " + expected_of(*stands);
  }
  stands->basis = "the default stands: " + stands->basis;
  if (rival != forecasts.end()) stands->basis += "; the fastest that won around: " + expected_of(*rival);
}

/// Whether something may take the place of a default that was chosen for the problem.
bool knows_enough(const std::vector<Forecast>& forecasts, const std::string& standard) {
  return std::any_of(forecasts.begin(), forecasts.end(),
                     [&](const auto& forecast) { return forecast.configuration == standard || forecast.deviation < kSure; });
}

/// A default that nothing is known about. Nothing is expected to be faster.
Forecast unknown(const std::string& standard) {
  return {standard, 0, false, 0, 0, "nothing was measured near enough to foresee times here"};
}

}  // namespace

std::vector<Forecast> forecast_between(const spec::Problem& asked, std::span<const TunedSize> results, const LaunchesAt& launches,
                                       Evidence& evidence) {
  auto neighbours = neighbours_of(results, launches, evidence);
  const std::string standard = launches.standard(asked);
  const bool chosen_is_far = !results.empty() && results.front().distance > kNear && launches.standard_is_chosen(asked);
  if (neighbours.empty()) return chosen_is_far ? std::vector{unknown(standard)} : std::vector<Forecast>{};
  const double doubt = (chosen_is_far ? kDoubtBesideChosen : kDoubtAnOctave) * std::max(0.0, results.front().distance - kNear);
  std::vector<Forecast> forecasts;
  std::set<std::string> seen{standard};
  // The default first, however many winners there are: none may be taken that is not expected to be faster than what it took around,
  // wherever it was the default, or was another configuration.
  Slopes slopes;
  auto of_standard = foreseen_standard(standard, asked, neighbours, launches, Kinds::Same);
  if (!of_standard)
    of_standard = foreseen_standard(standard, asked, neighbours, launches, Kinds::All);  // better than to give way to anything
  if (of_standard) {
    const auto own = std::find_if(results.begin(), results.end(), [&](const auto& tuned) { return tuned.row->configuration == standard; });
    of_standard->forecast.won = own != results.end();
    of_standard->forecast.donor = of_standard->forecast.won ? static_cast<std::size_t>(own - results.begin()) : 0;
    forecasts.push_back(std::move(of_standard->forecast));
    slopes = std::move(of_standard->slopes);
    for (Slope& slope : slopes.of_sizes) slope.deviation = std::hypot(slope.deviation, kSlopeApart);
  }
  for (std::size_t i = 0; i < results.size() && seen.size() < kMostCandidates; ++i) {
    const std::string& winner = results[i].row->configuration;
    if (!seen.insert(winner).second) continue;
    auto of_winner = foreseen(winner, From::Itself, asked, neighbours, launches, slopes);
    if (!of_winner) continue;
    Forecast& forecast = forecasts.emplace_back(std::move(of_winner->forecast));
    forecast.donor = i;
    forecast.won = true;
    forecast.deviation += doubt + kDoubtBeyond * of_winner->octaves_beyond;
  }
  for (Forecast& forecast : forecasts) forecast.basis = told(forecast);
  if (chosen_is_far && !knows_enough(forecasts, standard)) forecasts.insert(forecasts.begin(), unknown(standard));
  std::stable_sort(forecasts.begin(), forecasts.end(), [](const auto& a, const auto& b) { return a.cautious_us() < b.cautious_us(); });
  const auto stands =
      std::find_if(forecasts.begin(), forecasts.end(), [&](const auto& forecast) { return forecast.configuration == standard; });
  if (stands == forecasts.end()) return forecasts;
  const double enough_us = kClearlyFaster * stands->expected_us;
  const auto first = std::find_if(forecasts.begin(), stands, [&](const auto& forecast) { return forecast.cautious_us() > enough_us; });
  std::rotate(first, stands, stands + 1);
  tell_choice(forecasts, standard);
  return forecasts;
}

}  // namespace attune::runtime
