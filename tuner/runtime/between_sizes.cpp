#include "tuner/runtime/between_sizes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "tuner/base/json.hpp"

namespace attune::runtime {
namespace {

using nlohmann::json;

// Chosen by leaving sizes out of a measured grid, docs/decisions/0008-between-sizes.md; all four stand on plateaus.
constexpr std::size_t kNeighbours = 8;
constexpr double kNarrowest = 0.3;   ///< standard deviation of the weights, in octaves
constexpr double kOfSpacing = 0.7;   ///< the same over the distance of the second nearest size, where sizes lie far apart
constexpr double kAlignment = 3;     ///< distance of an odd size from one that is a multiple of 2^kMostFactors
constexpr int kMostFactors = 12;
/// Farther winners are no better guesses, and each costs reading its records.
constexpr std::size_t kMostCandidates = 64;

int factors_of_two(std::int64_t size) {
  return size == 0 ? kMostFactors : std::min(std::countr_zero(static_cast<std::uint64_t>(size)), kMostFactors);
}

double alignment_distance(const spec::Problem& a, const spec::Problem& b) {
  double squares = 0;
  for (const auto& [axis, size] : a.sizes) {
    const double difference = factors_of_two(size) - factors_of_two(b.sizes.at(axis));
    squares += difference * difference;
  }
  return kAlignment / kMostFactors * std::sqrt(squares);
}

/// How the configurations did at one tuned size.
class Neighbour {
 public:
  explicit Neighbour(const TunedSize& tuned) : tuned_(tuned) {
    const auto& row = *tuned.row;
    query_ = {row.template_hash, std::nullopt, row.problem, row.device_key, row.policy};
    read_run_off(row.detail_json);
    winner_us_ = median_us(row.configuration);
  }

  /// Time over that of the best; nothing when it was not measured here, or failed.
  [[nodiscard]] std::optional<double> ratio(const std::string& configuration) const {
    if (const auto known = ratios_.find(configuration); known != ratios_.end()) return known->second;
    if (configuration == tuned_.row->configuration) return 1.0;
    const auto us = median_us(configuration);
    if (!us || !winner_us_) return std::nullopt;
    return *us / *winner_us_;
  }
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
    double fastest = 1;
    for (const auto& [configuration, ratio] : ratios_) fastest = std::min(fastest, ratio);
    for (auto& [configuration, ratio] : ratios_) ratio /= fastest;
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
std::vector<Weighted> neighbours_of(const spec::Problem& asked, std::span<const TunedSize> results) {
  std::vector<const TunedSize*> sizes;
  for (const auto& tuned : results) {
    const auto same = [&](const TunedSize* other) { return other->row->problem == tuned.row->problem; };
    if (std::none_of(sizes.begin(), sizes.end(), same)) sizes.push_back(&tuned);
  }
  if (sizes.size() < 2) return {};
  const double width = std::max(kNarrowest, kOfSpacing * sizes[1]->distance);
  std::vector<std::pair<double, const TunedSize*>> ranked;  // by squared distance
  for (const auto* tuned : sizes) {
    ranked.emplace_back(std::pow(tuned->distance / width, 2) + std::pow(alignment_distance(asked, *tuned->problem), 2), tuned);
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  ranked.resize(std::min(ranked.size(), kNeighbours));
  std::vector<Weighted> neighbours;
  for (const auto& [squared, tuned] : ranked) neighbours.push_back({Neighbour(*tuned), std::exp(ranked.front().first - squared)});
  return neighbours;
}

/// Nothing when the configuration was measured at one neighbour only, or not at the better part of them.
std::optional<Forecast> forecast_of(const std::string& configuration, const std::vector<Weighted>& neighbours) {
  double all = 0, known = 0, mean = 0, squares = 0;
  int sizes = 0;
  std::string basis;
  for (const auto& [neighbour, weight] : neighbours) {
    all += weight;
    const auto ratio = neighbour.ratio(configuration);
    if (!ratio) continue;
    known += weight;
    ++sizes;
    mean += weight * std::log(*ratio);
    squares += weight * std::log(*ratio) * std::log(*ratio);
    if (weight >= 0.1) basis += fmt::format("{}{:.3f} x the best at {}", basis.empty() ? "" : ", ", *ratio, neighbour.sizes());
  }
  if (sizes < 2 || known <= all / 2) return std::nullopt;
  mean /= known;
  const double deviation = std::sqrt(std::max(0.0, squares / known - mean * mean));
  return Forecast{configuration, 0, false, std::exp(mean + deviation), std::move(basis)};
}

}  // namespace

std::vector<Forecast> forecast_between(const spec::Problem& asked, std::span<const TunedSize> results,
                                       const std::string& default_configuration) {
  const auto neighbours = neighbours_of(asked, results);
  if (neighbours.empty()) return {};
  std::vector<Forecast> forecasts;
  std::set<std::string> seen;
  const auto add = [&](const std::string& configuration, std::size_t donor, bool won) {
    if (seen.size() >= kMostCandidates || !seen.insert(configuration).second) return;
    auto forecast = forecast_of(configuration, neighbours);
    if (!forecast) return;
    forecast->donor = donor;
    forecast->won = won;
    forecasts.push_back(*std::move(forecast));
  };
  // The default first, however many winners there are: none may be taken that is expected to be slower.
  const auto own = std::find_if(results.begin(), results.end(), [&](const auto& tuned) { return tuned.row->configuration == default_configuration; });
  const bool won = own != results.end();
  add(default_configuration, won ? static_cast<std::size_t>(own - results.begin()) : 0, won);
  for (std::size_t i = 0; i < results.size(); ++i) add(results[i].row->configuration, i, true);
  std::stable_sort(forecasts.begin(), forecasts.end(), [](const auto& a, const auto& b) { return a.ratio < b.ratio; });
  return forecasts;
}

}  // namespace attune::runtime
