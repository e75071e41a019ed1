#include "tuner/search/model.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "tuner/search/likelihood.hpp"

namespace attune::search {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr std::size_t kFirstTrials = 8;  // far from each other, before anything is learnt
constexpr std::size_t kDraws = 60;       // of which the roundest third's farthest is tried
constexpr std::size_t kFewestValid = 3;  // to learn from
constexpr std::size_t kMostCandidates = 3000;
constexpr std::size_t kFastest = 3;       // whose neighbours are candidates
constexpr std::size_t kMostPoints = 320;  // of the process; costs grow with their square
constexpr std::size_t kRoom = 60;         // of them for those that follow before it learns anew
constexpr std::size_t kMostLearnt = 240;
constexpr std::size_t kMostFitted = 100;  // to which the covariance is fitted, at their cube
constexpr std::size_t kOftenUpTo = 100;   // reports: what is learnt of few is worth most and costs least
constexpr int kFitSteps = 12;
constexpr std::size_t kMostHinted = 500;  // always candidates
constexpr std::size_t kFirstHinted = 4;   // in place of the first trials
constexpr double kLeastVariance = 1e-12;  // of the signal: where all times are the same nothing is left to explain
constexpr double kFailedElsewhere = 0.2;  // chance that what failed in all hints is valid here: another GPU has other limits

/// Two configurations are alike where nearly all parameters are: what fails does so by limits that several of them share.
Covariance likeness(const std::vector<ParameterDistances>& distances) {
  Covariance covariance = prior_covariance(distances);
  covariance.log_lengths.setConstant(std::log(0.3));
  covariance.logits.setConstant(3);
  return covariance;
}

/// How much smaller than `least` a normal value is expected to be where it is smaller.
double expected_improvement(double least, double mean, double deviation) {
  const double u = (least - mean) / deviation;
  const double below = 0.5 * std::erfc(-u / std::numbers::sqrt2);
  return deviation * (u * below + std::exp(-0.5 * u * u) / std::sqrt(2 * std::numbers::pi));
}

/// No less than the expected improvement, without an exponential: few candidates need more.
double most_improvement(double least, double mean, double deviation) { return std::max(least - mean, 0.0) + 0.4 * deviation; }

}  // namespace

Model::Model(const space::SearchSpace& space, std::uint64_t seed, std::optional<space::Ordinal> first, std::shared_ptr<const Hints> hints,
             std::function<double(space::Ordinal)> promise)
    : space_(space),
      distances_(distances_of(space)),
      random_(seed),
      order_(space.size()),
      first_(first),
      fitted_(prior_covariance(distances_)),
      promise_(std::move(promise)),
      hints_(hints && !hints->empty() ? std::move(hints) : nullptr),
      hinted_(hints_ ? hints_->best(kMostHinted) : std::vector<space::Ordinal>()),
      is_candidate_(space.size(), false),
      alike_(space, distances_, fitted_),
      validity_(CovarianceTable(space, distances_, likeness(distances_))) {}

std::size_t Model::most_pending() const { return std::max<std::size_t>(16, reported_ / 4); }

Model::Trial& Model::trial_of(space::Ordinal ordinal) {
  const auto [place, is_new] = trial_by_ordinal_.emplace(ordinal, trials_.size());
  if (is_new) trials_.push_back({ordinal});
  return trials_[place->second];
}

std::optional<space::Ordinal> Model::propose() {
  expected_gain_.reset();  // of the proposal before
  std::optional<space::Ordinal> ordinal = std::exchange(first_, std::nullopt);
  if (ordinal && !trial_by_ordinal_.contains(*ordinal)) {
    ++first_trials_;
    trial_of(*ordinal);
    return ordinal;
  }
  if (first_trials_ < (hinted_.empty() ? kFirstTrials : kFirstHinted) || valid_ < kFewestValid) {
    ++first_trials_;
    ordinal = first_trial();
    if (ordinal) trial_of(*ordinal);
    return ordinal;
  }
  if (!process_ || process_->is_full() || reported_ >= learn_at_) learn();
  ordinal = is_near_end_ ? fastest_neighbour() : std::nullopt;
  if (!ordinal) ordinal = expected_best();
  if (!ordinal) return std::nullopt;
  Trial& trial = trial_of(*ordinal);
  if (!trial.point && !process_->is_full()) trial.point = process_->add_point(*ordinal, process_->mean_of(*ordinal));
  return ordinal;
}

std::optional<space::Ordinal> Model::expected_best() {
  const auto candidate = most_promising();
  return candidate ? process_->candidates()[*candidate] : any_left();
}

std::optional<space::Ordinal> Model::fastest_neighbour() const {
  std::optional<space::Ordinal> fastest;
  double least = 0;
  for (const auto neighbour : space_.neighbours(fastest_, space::Neighbourhood::Hamming)) {
    if (trial_by_ordinal_.contains(neighbour)) continue;
    const double predicted = process_->mean_of(neighbour) + expected(neighbour) / deviation_;
    if (fastest && predicted >= least) continue;
    fastest = neighbour;
    least = predicted;
  }
  return fastest;
}

std::optional<space::Ordinal> Model::first_trial() {
  for (const auto hinted : hinted_)
    if (!trial_by_ordinal_.contains(hinted)) return hinted;
  std::optional<space::Ordinal> farthest;
  double least = 0;
  for (const auto drawn : likely_draws()) {
    if (trial_by_ordinal_.contains(drawn)) continue;
    double nearest = 0;
    for (const auto& trial : trials_) nearest = std::max(nearest, alike_(trial.ordinal, drawn));
    if (farthest && nearest >= least) continue;
    farthest = drawn;
    least = nearest;
  }
  return farthest ? farthest : any_left();
}

/// Those that can keep most of the device busy, as far as that is known, and of them those whose numbers two divides most often: what
/// hardware is made of is a power of two wide.
std::vector<space::Ordinal> Model::likely_draws() {
  auto draws = space_.sample(promise_ ? 3 * kDraws / 2 : kDraws, random_);
  const auto keep = [&](std::size_t most, auto&& worth) {
    std::vector<std::pair<double, space::Ordinal>> by_worth;
    for (const auto drawn : draws) by_worth.emplace_back(-worth(drawn), drawn);
    std::stable_sort(by_worth.begin(), by_worth.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    draws.clear();
    for (const auto& [worth_of_it, drawn] : by_worth)
      if (draws.size() < most) draws.push_back(drawn);
  };
  if (promise_) keep(kDraws, promise_);
  keep(kDraws / 3, [&](space::Ordinal drawn) {
    double twos = 0;
    for (std::size_t parameter = 0; parameter < space_.width(); ++parameter)
      if (const auto& of_values = space_.twos(parameter); !of_values.empty()) twos += of_values[space_.row(drawn)[parameter]];
    return twos;
  });
  return draws;
}

std::optional<space::Ordinal> Model::any_left() {
  while (const auto ordinal = order_.next(random_))
    if (!trial_by_ordinal_.contains(*ordinal)) return ordinal;
  return std::nullopt;
}

void Model::report(space::Ordinal ordinal, std::optional<double> median_us) {
  Trial& trial = trial_of(ordinal);
  if (std::exchange(trial.reported, true)) return;
  ++reported_;
  validity_.report(ordinal, median_us.has_value());
  if (!median_us) {
    if (process_) note_failure(trial);
    return;
  }
  ++valid_;
  trial.log_us = std::log(*median_us);
  if (process_ && trial.point) process_->set_value(*trial.point, target(trial.ordinal, *trial.log_us));
  if (process_ && !trial.point && !process_->is_full()) trial.point = process_->add_point(ordinal, target(trial.ordinal, *trial.log_us));
  if (least_log_us_ && *trial.log_us >= *least_log_us_) return;
  least_log_us_ = trial.log_us;
  fastest_ = ordinal;
  if (!process_) return;
  for (const auto neighbour : space_.neighbours(ordinal, space::Neighbourhood::Hamming)) add_candidate(neighbour);
}

/// As fast as predicted, but no better than the average: without it the process would go on promising much of what lies beyond a limit,
/// where it knows nothing.
void Model::note_failure(Trial& trial) {
  const double value = std::max(process_->mean_of(trial.ordinal), 0.0);
  if (trial.point) {
    process_->set_value(*trial.point, value);
  } else if (!process_->is_full()) {
    trial.point = process_->add_point(trial.ordinal, value);
  }
}

Model::Told Model::told_of(space::Ordinal ordinal) const {
  if (!hints_) return {};
  return {expected(ordinal), kFailedElsewhere + (1 - kFailedElsewhere) * hints_->valid_share(ordinal)};
}

void Model::add_candidate(space::Ordinal ordinal) {
  if (is_candidate_[ordinal] || trial_by_ordinal_.contains(ordinal)) return;
  is_candidate_[ordinal] = true;
  process_->add_candidate(ordinal);
  validity_.add_candidate(ordinal);
  told_.push_back(told_of(ordinal));
}

/// The fastest half of so many valid trials, and others evenly from what is slower, the fastest first.
std::vector<const Model::Trial*> Model::fastest_and_others(std::size_t most) const {
  std::vector<const Trial*> sorted;
  for (const auto& trial : trials_)
    if (trial.log_us) sorted.push_back(&trial);
  std::stable_sort(sorted.begin(), sorted.end(), [](const Trial* a, const Trial* b) { return *a->log_us < *b->log_us; });
  if (sorted.size() <= most) return sorted;
  const std::size_t fastest = most / 2, others = most - fastest, left = sorted.size() - fastest;
  for (std::size_t i = 0; i < others; ++i) sorted[fastest + i] = sorted[fastest + i * left / others];
  sorted.resize(most);
  return sorted;
}

VectorXd Model::targets_of(const std::vector<const Trial*>& trials) const {
  VectorXd targets(static_cast<Index>(trials.size()));
  for (std::size_t i = 0; i < trials.size(); ++i) targets[static_cast<Index>(i)] = target(trials[i]->ordinal, *trials[i]->log_us);
  return targets;
}

/// The slope of what was measured over what the hints let expect, drawn towards 1 by as much as a few measurements say.
double Model::trust_in_hints(const std::vector<const Trial*>& trials) const {
  if (!hints_) return 1;
  const auto n = static_cast<Index>(trials.size());
  VectorXd told(n), measured(n);
  for (Index i = 0; i < n; ++i) {
    told[i] = hints_->log_behind(trials[static_cast<std::size_t>(i)]->ordinal);
    measured[i] = *trials[static_cast<std::size_t>(i)]->log_us;
  }
  told.array() -= told.mean();
  measured.array() -= measured.mean();
  constexpr double kDrawn = 0.5;
  return std::clamp((told.dot(measured) + kDrawn) / (told.squaredNorm() + kDrawn), 0.0, 2.0);
}

/// Fits the covariance to what is known by now and begins a process of it, with candidates of its own.
void Model::learn() {
  const auto learnt = fastest_and_others(kMostLearnt), fitted = fastest_and_others(kMostFitted);
  mean_ = 0;
  deviation_ = 1;
  trust_ = trust_in_hints(learnt);
  const VectorXd logs = targets_of(learnt);
  mean_ = logs.mean();
  deviation_ = std::max(std::sqrt((logs.array() - mean_).square().mean()), 1e-9);
  std::vector<space::Ordinal> points;
  for (const auto* trial : fitted) points.push_back(trial->ordinal);
  fitted_ = fit_covariance(fitted_, space_, distances_, points, targets_of(fitted), kFitSteps);

  auto candidates = chosen_candidates();
  validity_.set_candidates(candidates);
  told_.clear();
  for (const auto candidate : candidates) told_.push_back(told_of(candidate));
  process_.emplace(CovarianceTable(space_, distances_, fitted_), std::exp(fitted_.log_noise), std::move(candidates), kMostPoints);
  for (auto& trial : trials_) trial.point.reset();
  for (const auto* trial : learnt)
    trial_of(trial->ordinal).point = process_->add_point(trial->ordinal, target(trial->ordinal, *trial->log_us));
  signal_variance_ = std::max(process_->signal_variance(), kLeastVariance);
  for (auto& trial : trials_) {
    if (process_->points() + kRoom >= kMostPoints) break;
    if (!trial.reported) trial.point = process_->add_point(trial.ordinal, process_->mean_of(trial.ordinal));
    if (trial.reported && !trial.log_us) note_failure(trial);
  }
  learn_at_ = reported_ + (reported_ < kOftenUpTo ? std::max<std::size_t>(4, reported_ / 8) : reported_ / 4);
}

std::vector<space::Ordinal> Model::chosen_candidates() {
  std::vector<space::Ordinal> chosen;
  is_candidate_.assign(space_.size(), false);
  const auto choose = [&](space::Ordinal ordinal) {
    if (is_candidate_[ordinal] || trial_by_ordinal_.contains(ordinal)) return;
    is_candidate_[ordinal] = true;
    chosen.push_back(ordinal);
  };
  for (const auto ordinal : hinted_) choose(ordinal);
  for (const auto ordinal : space_.sample(kMostCandidates, random_)) choose(ordinal);
  const auto trials = fastest_and_others(2 * kFastest);
  for (std::size_t i = 0; i < std::min(trials.size(), kFastest); ++i)
    for (const auto neighbour : space_.neighbours(trials[i]->ordinal, space::Neighbourhood::Hamming)) choose(neighbour);
  return chosen;
}

std::optional<std::size_t> Model::most_promising() {
  const auto& candidates = process_->candidates();
  const VectorXd& means = process_->means();
  const VectorXd& variances = process_->variances();
  std::optional<std::size_t> best;
  double most = -1;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (trial_by_ordinal_.contains(candidates[i])) continue;
    const auto place = static_cast<Index>(i);
    const double deviation = std::sqrt(std::max(variances[place], 1e-12) * signal_variance_);
    const double least = (*least_log_us_ - told_[i].expected - mean_) / deviation_;
    const double chance = validity_.chance(i) * told_[i].chance;
    if (most_improvement(least, means[place], deviation) * chance <= most) continue;
    const double promise = expected_improvement(least, means[place], deviation) * chance;
    if (promise <= most) continue;
    most = promise;
    best = i;
  }
  expected_gain_ = std::max(most, 0.0) * deviation_;  // a small difference of logarithms is a share
  return best;
}

}  // namespace attune::search
