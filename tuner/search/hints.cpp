#include "tuner/search/hints.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "tuner/search/gaussian_process.hpp"
#include "tuner/search/likelihood.hpp"

namespace attune::search {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr std::size_t kFewestValid = 3;
constexpr std::size_t kMostLearnt = 160;  // costs grow with their cube
constexpr int kFitSteps = 20;
constexpr double kFailed = 2.3;  // what failed in all of its sources counts as ten times slower

bool is_valid(const Hint& hint) { return hint.cost && *hint.cost > 0; }

}  // namespace

Hints::Hints(const space::SearchSpace& space, const std::vector<HintSource>& sources) {
  const auto distances = distances_of(space);
  for (const auto& hints : sources)
    if (auto source = source_of(space, distances, hints)) sources_.push_back(std::move(*source));
}

std::optional<Hints::Source> Hints::source_of(const space::SearchSpace& space, const std::vector<ParameterDistances>& distances,
                                              const HintSource& hints) {
  // A measurement that is told twice counts once: the fit would take the two for a proof that there is no noise.
  std::unordered_map<space::Ordinal, std::optional<double>> measured;
  std::vector<Hint> valid;
  for (const auto& hint : hints)
    if (measured.emplace(hint.ordinal, std::nullopt).second && is_valid(hint)) valid.push_back(hint);
  if (valid.size() < kFewestValid) return std::nullopt;
  std::stable_sort(valid.begin(), valid.end(), [](const Hint& a, const Hint& b) { return *a.cost < *b.cost; });
  const double least = std::log(*valid.front().cost);
  for (const auto& hint : valid) measured[hint.ordinal] = std::log(*hint.cost) - least;
  // The model's points are taken evenly from the fast to the slow: what was not measured may be either.
  const std::size_t count = std::min(valid.size(), kMostLearnt);
  std::vector<space::Ordinal> points;
  VectorXd values(static_cast<Index>(count));
  for (std::size_t i = 0; i < count; ++i) {
    const Hint& hint = valid[i * valid.size() / count];
    points.push_back(hint.ordinal);
    values[static_cast<Index>(i)] = std::log(*hint.cost) - least;
  }
  const double mean = values.mean();
  values.array() -= mean;
  const Covariance fitted = fit_covariance(prior_covariance(distances), space, distances, points, values, kFitSteps);
  CovarianceTable covariance(space, distances, fitted);
  GaussianProcess process(covariance, std::exp(fitted.log_noise), {}, count);
  for (std::size_t i = 0; i < count; ++i) process.add_point(points[i], values[static_cast<Index>(i)]);
  const VectorXd weights = process.weights();
  return Source{std::move(measured), std::move(covariance), std::move(points), {weights.begin(), weights.end()}, mean};
}

double Hints::Source::log_behind(space::Ordinal ordinal) const {
  if (const auto found = measured.find(ordinal); found != measured.end() && found->second) return *found->second;
  double predicted = mean;
  for (std::size_t i = 0; i < points.size(); ++i) predicted += weights[i] * covariance(points[i], ordinal);
  return std::max(predicted, 0.0);
}

double Hints::log_behind(space::Ordinal ordinal) const {
  double sum = 0;
  for (const auto& source : sources_) sum += source.log_behind(ordinal);
  return empty() ? 0 : sum / static_cast<double>(sources_.size());
}

double Hints::valid_share(space::Ordinal ordinal) const {
  int told = 0, valid = 0;
  for (const auto& source : sources_) {
    const auto found = source.measured.find(ordinal);
    if (found == source.measured.end()) continue;
    ++told;
    valid += found->second ? 1 : 0;
  }
  return told == 0 ? 1 : static_cast<double>(valid) / told;
}

std::vector<space::Ordinal> Hints::best(std::size_t most) const {
  std::unordered_set<space::Ordinal> known;
  std::vector<std::pair<double, space::Ordinal>> promising;
  for (const auto& source : sources_) {
    for (const auto& [ordinal, behind] : source.measured) {
      if (behind && known.insert(ordinal).second)
        promising.emplace_back(log_behind(ordinal) + kFailed * (1 - valid_share(ordinal)), ordinal);
    }
  }
  std::sort(promising.begin(), promising.end());
  std::vector<space::Ordinal> best;
  for (const auto& [behind, ordinal] : promising)
    if (best.size() < most) best.push_back(ordinal);
  return best;
}

}  // namespace attune::search
