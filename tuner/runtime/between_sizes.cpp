#include "tuner/runtime/between_sizes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
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
constexpr double kNarrowest = 0.3;  ///< standard deviation of the weights, in octaves
constexpr double kOfSpacing = 0.7;  ///< the same over the distance of the second nearest size, where sizes lie far apart
/// Of a time that was measured: two or three that lie on a line by chance are no certainty.
constexpr double kNoise = 0.01;
/// So near, in octaves, what wins somewhere does well here; each octave beyond adds this much doubt.
constexpr double kNear = 0.75, kDoubtAnOctave = 0.05;
/// Farther winners are no better guesses, and each costs reading its records.
constexpr std::size_t kMostCandidates = 64;

/// How the configurations did at one tuned size.
class Neighbour {
 public:
  explicit Neighbour(const TunedSize& tuned) : tuned_(tuned) {
    const auto& row = *tuned.row;
    query_ = {row.template_hash, std::nullopt, row.problem, row.device_key, row.policy};
    read_run_off(row.detail_json);
    winner_us_ = median_us(row.configuration);
    if (!winner_us_ && row.median_us > 0) winner_us_ = row.median_us;
  }

  /// What it took; nothing when it was not measured here, or failed. Of those that ran off, the run-off's ratios are
  /// applied to the winner's time: they are surer than what the search measured one after the other.
  [[nodiscard]] std::optional<double> time_us(const std::string& configuration) const {
    const auto ratio = ratios_.find(configuration);
    if (ratio != ratios_.end() && winner_us_) return ratio->second / winner_ratio_ * *winner_us_;
    return configuration == tuned_.row->configuration ? winner_us_ : median_us(configuration);
  }
  [[nodiscard]] const spec::Problem& problem() const { return *tuned_.problem; }
  [[nodiscard]] const std::string& sizes() const { return tuned_.row->sizes_json; }

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
    if (const auto winner = ratios_.find(tuned_.row->configuration); winner != ratios_.end()) winner_ratio_ = winner->second;
  }

  /// Of the search: what ran off has better figures, but only among each other.
  [[nodiscard]] std::optional<double> median_us(const std::string& configuration) const {
    const auto record = tuned_.database->record(query_, configuration);
    if (!record || record->outcome != "ok" || !(record->median_us > 0)) return std::nullopt;
    return record->median_us;
  }

  const TunedSize& tuned_;
  db::Query query_;
  std::map<std::string, double> ratios_;  ///< out of the run-off
  double winner_ratio_ = 1;
  std::optional<double> winner_us_;
};

}  // namespace

double log_size(std::int64_t size) { return size > 0 ? std::log2(static_cast<double>(size)) : -1.0; }

namespace {

struct Weighted {
  Neighbour neighbour;
  double weight;  ///< the largest is 1
};

/// The sizes that count, the weightiest first. One problem may be in several layers: the first one's row speaks for it.
std::vector<Weighted> neighbours_of(std::span<const TunedSize> results) {
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
  for (const auto* tuned : sizes) neighbours.push_back({Neighbour(*tuned), std::exp(nearest - std::pow(tuned->distance / width, 2))});
  return neighbours;
}

/// Sums of a weighted regression of y over x.
class Line {
 public:
  void add(double weight, double x, double y) {
    ++points_;
    weight_ += weight, x_ += weight * x, y_ += weight * y;
    xx_ += weight * x * x, xy_ += weight * x * y, yy_ += weight * y * y;
  }
  [[nodiscard]] int points() const { return points_; }
  [[nodiscard]] double weight() const { return weight_; }
  [[nodiscard]] double at(double x) const { return y_ / weight_ + slope() * (x - x_ / weight_); }
  /// Of y around the line.
  [[nodiscard]] double deviation() const {
    const double left = variance(yy_, y_, y_) - 2 * slope() * variance(xy_, x_, y_) + slope() * slope() * variance(xx_, x_, x_);
    return std::sqrt(std::max(0.0, left));
  }

 private:
  [[nodiscard]] double variance(double product, double a, double b) const { return product / weight_ - a / weight_ * (b / weight_); }
  /// Time neither falls with the work nor grows faster than it.
  [[nodiscard]] double slope() const {
    const double spread = variance(xx_, x_, x_);
    return spread > 1e-9 ? std::clamp(variance(xy_, x_, y_) / spread, 0.0, 1.0) : 0.0;
  }
  int points_ = 0;
  double weight_ = 0, x_ = 0, y_ = 0, xx_ = 0, xy_ = 0, yy_ = 0;
};

/// Of what stands at a problem: one configuration everywhere, or the default there. Nothing when it was measured, as a launch of the same
/// kind, at one neighbour only, or not at enough of them.
std::optional<Forecast> forecast_of(const std::function<std::string(const spec::Problem&)>& configuration_at, const spec::Problem& asked,
                                    const std::vector<Weighted>& neighbours, const LaunchesAt& launches) {
  const std::string configuration = configuration_at(asked);
  const auto here = launches.facts(configuration, asked);
  if (!here) return std::nullopt;
  Line line;
  double all = 0;
  std::string basis;
  for (const auto& [neighbour, weight] : neighbours) {
    all += weight;
    const std::string used = configuration_at(neighbour.problem());
    auto us = neighbour.time_us(used);
    if (!us) {
      for (const auto& name : launches.names(used, neighbour.problem())) {
        if ((us = neighbour.time_us(name))) break;
      }
    }
    if (!us) continue;
    const auto there = launches.facts(used, neighbour.problem());
    if (!there || there->one_block != here->one_block) continue;
    line.add(weight, std::log(there->work), std::log(*us));
    if (weight >= 0.1) basis += fmt::format("{}{:.4g} us at {}", basis.empty() ? "" : ", ", *us, neighbour.sizes());
  }
  if (line.points() < 2 || line.weight() <= all / 3) return std::nullopt;
  Forecast forecast{configuration, 0, false, std::exp(line.at(std::log(here->work))), std::hypot(line.deviation(), kNoise), {}};
  forecast.basis = basis.empty() ? "sizes farther away" : basis;
  return forecast;
}

std::string told(const Forecast& forecast) {
  return fmt::format("{:.4g} us expected, give or take {:.0f} %, from {}", forecast.expected_us, 100 * forecast.deviation, forecast.basis);
}

}  // namespace

std::vector<Forecast> forecast_between(const spec::Problem& asked, std::span<const TunedSize> results, const LaunchesAt& launches) {
  const auto neighbours = neighbours_of(results);
  if (neighbours.empty()) return {};
  const std::string standard = launches.standard(asked);
  const double doubt = kDoubtAnOctave * std::max(0.0, results.front().distance - kNear);
  std::vector<Forecast> forecasts;
  std::set<std::string> seen{standard};
  // The default first, however many winners there are: none may be taken that is not expected to be faster.
  if (auto forecast = forecast_of(launches.standard, asked, neighbours, launches)) {
    const auto own = std::find_if(results.begin(), results.end(), [&](const auto& tuned) { return tuned.row->configuration == standard; });
    forecast->won = own != results.end();
    forecast->donor = forecast->won ? static_cast<std::size_t>(own - results.begin()) : 0;
    forecasts.push_back(*std::move(forecast));
  }
  for (std::size_t i = 0; i < results.size() && seen.size() < kMostCandidates; ++i) {
    const std::string& winner = results[i].row->configuration;
    if (!seen.insert(winner).second) continue;
    auto forecast = forecast_of([&](const spec::Problem&) { return winner; }, asked, neighbours, launches);
    if (!forecast) continue;
    forecast->donor = i;
    forecast->won = true;
    forecast->deviation += doubt;
    forecasts.push_back(*std::move(forecast));
  }
  for (Forecast& forecast : forecasts) forecast.basis = told(forecast);
  std::stable_sort(forecasts.begin(), forecasts.end(), [](const auto& a, const auto& b) { return a.cautious_us() < b.cautious_us(); });
  const auto stands = std::find_if(forecasts.begin(), forecasts.end(), [&](const auto& forecast) { return forecast.configuration == standard; });
  if (stands != forecasts.end() && forecasts.front().cautious_us() > kClearlyFaster * stands->cautious_us())
    std::rotate(forecasts.begin(), stands, stands + 1);
  return forecasts;
}

}  // namespace attune::runtime
