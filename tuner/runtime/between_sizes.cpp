#include "tuner/runtime/between_sizes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "tuner/base/json.hpp"

namespace attune::runtime {
namespace {

using nlohmann::json;

// Chosen by leaving sizes out of measured grids, docs/decisions/0013-between-ragged-sizes.md.
constexpr std::size_t kNeighbours = 12;
constexpr double kNarrowest = 0.3;  ///< a size so many octaves away has a weight of 1/e
constexpr double kOfSpacing = 0.6;  ///< the same over the distance of the second nearest size, where sizes lie far apart
/// Of times around a plane through them, as long as there are few; as many points say as much about it as these.
constexpr double kNoise = 0.02, kPriorPoints = 3;
/// Of the logarithm of a time, an octave of a size: what is expected of a configuration of which nothing is known, and how far the slopes
/// of configurations lie from that of the default.
constexpr double kSlope = 0.2, kSlopeDeviation = 0.2, kSlopeApart = 0.08;
/// Deviation of a forecast that is none: octaves away from all that was measured.
constexpr double kUseless = 0.25;
/// A forecast takes the default's place where Forecast::cautious_us is below this much of what is expected of the default.
constexpr double kClearlyFaster = 0.995;
/// Of a forecast that a default chosen for the problem gives way to though nothing is known of it.
constexpr double kSure = 0.1;
/// So near, in octaves, what wins somewhere does well here; each octave beyond adds this much doubt, or more beside a default that was chosen for
/// the problem: a table changes between sizes because times turn there, which no plane through its neighbours foresees.
constexpr double kNear = 0.75, kDoubtAnOctave = 0.05, kDoubtBesideChosen = 0.5;
/// Added for every octave, of any size, that lies beyond the sizes where a winner was measured: its times may jump there.
constexpr double kDoubtBeyond = 0.15;
/// Measurements of this weight, where the nearest has 1, count as being around.
constexpr double kCounts = 0.1;
/// Farther winners are no better guesses, and each costs reading its records.
constexpr std::size_t kMostCandidates = 64;

/// What was measured at one tuned size.
class Measured {
 public:
  explicit Measured(const TunedSize& tuned)
      : winner_(tuned.specialised != nullptr ? *tuned.specialised : tuned.row->configuration) {
    const auto& row = *tuned.row;
    tuned.database->for_each_record({row.template_hash, std::nullopt, row.problem, row.device_key, row.policy}, [&](const db::RecordRow& record) {
      if (record.outcome == "ok" && record.median_us > 0) medians_us_.emplace(record.configuration, record.median_us);
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
  [[nodiscard]] std::optional<double> time_of_launches(const std::string& key, const std::function<std::optional<std::string>(const std::string&)>& key_of) {
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

  /// Of the search: what ran off has better figures, but only among each other.
  [[nodiscard]] std::optional<double> median_us(const std::string& configuration) const {
    const auto found = medians_us_.find(configuration);
    return found == medians_us_.end() ? std::nullopt : std::optional(found->second);
  }

  const std::string& winner_;
  std::map<std::string, double> medians_us_;  ///< of what worked
  std::map<std::string, double> ratios_;      ///< out of the run-off
  std::optional<std::map<std::string, std::string>> names_;  ///< by launches, once they were asked for
  double winner_ratio_ = 1;
  std::optional<double> winner_us_;
};

/// How the configurations did at one tuned size: read when it is asked for what no decision has asked before.
class Neighbour {
 public:
  Neighbour(const TunedSize& tuned, const LaunchesAt& launches, Evidence& evidence) : tuned_(&tuned), launches_(&launches), evidence_(&evidence) {}

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
  for (const auto* tuned : sizes) neighbours.push_back({Neighbour(*tuned, launches, evidence), std::exp(nearest - std::pow(tuned->distance / width, 2)), launches.standard(*tuned->problem)});
  return neighbours;
}

/// Where a problem lies relative to the asked one: differences of the sizes' logarithms to base 2.
std::vector<double> place_of(const spec::Problem& problem, const spec::Problem& asked) {
  std::vector<double> place;
  for (const auto& [axis, size] : asked.sizes) place.push_back(log_size(problem.sizes.at(axis)) - log_size(size));
  return place;
}

/// Along one axis.
struct Slope {
  double mean = kSlope;
  double deviation = kSlopeDeviation;
};

/// A weighted linear regression of y over a place, whose value at the origin is asked: Bayesian, so that it knows how little few points say.
/// `prior`: the slopes that are expected, of every axis; y is expected to deviate from the plane by kNoise. Points say more.
class Plane {
 public:
  explicit Plane(std::vector<Slope> prior) : prior_(std::move(prior)) {}
  void add(double weight, std::vector<double> place, double y) { points_.push_back({weight, std::move(place), y}); }
  [[nodiscard]] std::size_t points() const { return points_.size(); }
  [[nodiscard]] double weight() const {
    double sum = 0;
    for (const auto& point : points_) sum += point.weight;
    return sum;
  }
  /// How far the origin lies outside of the points that count, or of all where none does: octaves, summed over the axes.
  [[nodiscard]] double octaves_beyond() const {
    const bool any = std::any_of(points_.begin(), points_.end(), [](const Point& point) { return point.weight >= kCounts; });
    double sum = 0;
    for (std::size_t k = 0; k < prior_.size(); ++k) {
      double low = std::numeric_limits<double>::infinity(), high = -low;
      for (const auto& point : points_) {
        if (any && point.weight < kCounts) continue;
        low = std::min(low, point.place[k]);
        high = std::max(high, point.place[k]);
      }
      sum += std::max({0.0, low, -high});
    }
    return sum;
  }
  struct Value {
    double mean, deviation;
    std::vector<Slope> slopes;
  };
  /// Of a new observation at the origin, and what is known of slopes now. Requires: a point.
  [[nodiscard]] Value at_origin() const {
    double variance = kNoise * kNoise;
    std::vector<double> fit = solve(variance, right_side(variance));
    double squares = 0;
    for (const auto& point : points_) squares += point.weight * std::pow(point.y - value(fit, point.place), 2);
    variance = (kPriorPoints * kNoise * kNoise + squares) / (kPriorPoints + weight());
    fit = solve(variance, right_side(variance));
    const auto variance_of = [&](std::size_t k) {
      std::vector<double> unit(fit.size(), 0.0);
      unit[k] = 1;
      return solve(variance, unit)[k];
    };
    Value value{fit[0], std::sqrt(variance_of(0) + variance), {}};
    for (std::size_t k = 1; k < fit.size(); ++k) value.slopes.push_back({fit[k], std::sqrt(variance_of(k))});
    return value;
  }

 private:
  struct Point {
    double weight;
    std::vector<double> place;
    double y;
  };
  static double value(const std::vector<double>& fit, const std::vector<double>& place) {
    double y = fit[0];
    for (std::size_t k = 0; k < place.size(); ++k) y += fit[k + 1] * place[k];
    return y;
  }
  [[nodiscard]] std::vector<double> right_side(double variance) const {
    std::vector<double> right{0.0};
    for (const Slope& slope : prior_) right.push_back(slope.mean / (slope.deviation * slope.deviation));
    for (const auto& point : points_) {
      const double scale = point.weight / variance * point.y;
      right[0] += scale;
      for (std::size_t k = 0; k < point.place.size(); ++k) right[k + 1] += scale * point.place[k];
    }
    return right;
  }
  /// The precision matrix times the result is `right`.
  [[nodiscard]] std::vector<double> solve(double variance, std::vector<double> right) const {
    const std::size_t size = prior_.size() + 1;
    std::vector<std::vector<double>> matrix(size, std::vector<double>(size, 0.0));
    for (std::size_t k = 1; k < size; ++k) matrix[k][k] = 1 / (prior_[k - 1].deviation * prior_[k - 1].deviation);
    for (const auto& point : points_) {
      const auto at = [&](std::size_t k) { return k == 0 ? 1.0 : point.place[k - 1]; };
      for (std::size_t r = 0; r < size; ++r)
        for (std::size_t c = 0; c < size; ++c) matrix[r][c] += point.weight / variance * at(r) * at(c);
    }
    for (std::size_t k = 0; k < size; ++k) {  // positive definite: no pivoting
      for (std::size_t r = k + 1; r < size; ++r) {
        const double factor = matrix[r][k] / matrix[k][k];
        for (std::size_t c = k; c < size; ++c) matrix[r][c] -= factor * matrix[k][c];
        right[r] -= factor * right[k];
      }
    }
    for (std::size_t k = size; k-- > 0;) {
      for (std::size_t c = k + 1; c < size; ++c) right[k] -= matrix[k][c] * right[c];
      right[k] /= matrix[k][k];
    }
    return right;
  }

  std::vector<Slope> prior_;
  std::vector<Point> points_;
};

/// Of launches of one kind, of every size.
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
/// Of which launches.
enum class Kinds { Same, All };

/// Of a configuration at the asked sizes. Nothing when none of what speaks for it was measured, as a launch of the same kind, near enough.
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
    if (weight >= kCounts) basis += fmt::format("{}{:.4g} us at {}", basis.empty() ? "" : ", ", *known.us, neighbour.sizes());
  }
  if (plane.points() == 0) return std::nullopt;
  auto value = plane.at_origin();
  if (!(value.deviation <= kUseless)) return std::nullopt;  // so far away that its weight is 0, it is no number
  if (basis.empty()) basis = "sizes farther away";
  return Foreseen{{configuration, 0, false, std::exp(value.mean), value.deviation, std::move(basis)}, {here->one_block, std::move(value.slopes)}, plane.octaves_beyond()};
}

/// From the defaults around, and from its own times where another was the default somewhere: the one that is sure, or surer; the lower of two that are.
std::optional<Foreseen> foreseen_standard(const std::string& standard, const spec::Problem& asked, std::vector<Weighted>& neighbours, const LaunchesAt& launches,
                                          Kinds kinds) {
  auto of_defaults = foreseen(standard, From::Defaults, asked, neighbours, launches, {}, kinds);
  if (std::all_of(neighbours.begin(), neighbours.end(), [&](const Weighted& neighbour) { return neighbour.standard == standard; })) return of_defaults;
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

std::string expected_of(const Forecast& forecast) { return fmt::format("{:.4g} us, give or take {:.0f} %", forecast.expected_us, 100 * forecast.deviation); }

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
  return std::any_of(forecasts.begin(), forecasts.end(), [&](const auto& forecast) { return forecast.configuration == standard || forecast.deviation < kSure; });
}

/// Of a default that nothing is known of. Nothing is expected to be faster.
Forecast unknown(const std::string& standard) { return {standard, 0, false, 0, 0, "nothing was measured near enough to foresee times here"}; }

}  // namespace

std::vector<Forecast> forecast_between(const spec::Problem& asked, std::span<const TunedSize> results, const LaunchesAt& launches, Evidence& evidence) {
  auto neighbours = neighbours_of(results, launches, evidence);
  const std::string standard = launches.standard(asked);
  const bool chosen_is_far = !results.empty() && results.front().distance > kNear && launches.standard_is_chosen(asked);
  if (neighbours.empty()) return chosen_is_far ? std::vector{unknown(standard)} : std::vector<Forecast>{};
  const double doubt = (chosen_is_far ? kDoubtBesideChosen : kDoubtAnOctave) * std::max(0.0, results.front().distance - kNear);
  std::vector<Forecast> forecasts;
  std::set<std::string> seen{standard};
  // The default first, however many winners there are: none may be taken that is not expected to be faster than what it took around, wherever it
  // was the default, or was another configuration.
  Slopes slopes;
  auto of_standard = foreseen_standard(standard, asked, neighbours, launches, Kinds::Same);
  if (!of_standard) of_standard = foreseen_standard(standard, asked, neighbours, launches, Kinds::All);  // better than to give way to anything
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
  const auto stands = std::find_if(forecasts.begin(), forecasts.end(), [&](const auto& forecast) { return forecast.configuration == standard; });
  if (stands == forecasts.end()) return forecasts;
  const double enough_us = kClearlyFaster * stands->expected_us;
  const auto first = std::find_if(forecasts.begin(), stands, [&](const auto& forecast) { return forecast.cautious_us() > enough_us; });
  std::rotate(first, stands, stands + 1);
  tell_choice(forecasts, standard);
  return forecasts;
}

}  // namespace attune::runtime
