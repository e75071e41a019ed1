#include "tuner/search/forest.hpp"

#include <algorithm>
#include <cmath>

#include "tuner/search/draws.hpp"

namespace attune::search {
namespace {

constexpr std::size_t kRandomTrials = 8;     // before anything is learnt
constexpr std::size_t kFewestToCompare = 2;  // valid ones
constexpr std::size_t kTrees = 100;
constexpr std::size_t kMostRows = 1000;  // from which the trees learn
constexpr double kGoodShare = 0.1;
constexpr std::size_t kGoodAtFirst = 5;  // while a tenth is less, but at most a third
constexpr std::size_t kSampled = 1500;   // candidates
constexpr std::size_t kFastestWithNeighbours = 3;
constexpr int kClimbs = 2;
constexpr double kLeastChance = 0.05;  // added to what the trees say, who know nothing of what they have not seen

}  // namespace

Forest::Forest(const space::SearchSpace& space, std::uint64_t seed, std::optional<space::Ordinal> first)
    : space_(space), questions_(questions_of(space)), random_(seed), trials_(space.size(), first), tried_(space), candidate_rows_(space) {}

std::size_t Forest::most_pending() const { return std::max<std::size_t>(16, known_.size() / 4); }

std::optional<space::Ordinal> Forest::propose() {
  if (proposed_ == 0 || tried_.size() < kRandomTrials || valid_ < kFewestToCompare) return begun(trials_.propose_any(random_));
  if (known_.size() >= learn_at_known_ || proposed_ >= learn_at_proposed_) learn();
  const auto best = most_promising();
  return begun(best ? best : trials_.propose_any(random_));
}

std::optional<space::Ordinal> Forest::begun(std::optional<space::Ordinal> ordinal) {
  if (!ordinal) return ordinal;
  trials_.propose(*ordinal);
  pending_.push_back(*ordinal);
  ++proposed_;
  tried_.add(*ordinal);
  return ordinal;
}

void Forest::report(space::Ordinal ordinal, std::optional<double> median_us) {
  const bool is_proposed = trials_.contains(ordinal);
  const auto cost = trials_.report(ordinal, median_us);
  if (!cost) return;
  if (is_proposed) std::erase(pending_, ordinal);
  if (!is_proposed) tried_.add(ordinal);
  known_.push_back({ordinal, std::log(*cost)});
  valid_ += median_us ? 1 : 0;
}

void Forest::learn() {
  std::stable_sort(known_.begin(), known_.end(), [](const Known& a, const Known& b) { return a.log_us < b.log_us; });
  choose_candidates(grown());
  // So that all forests together cost about as much as so many measurements, and what waits for a report changes the forest at times.
  const std::size_t wait = std::max<std::size_t>(1, known_.size() / 8);
  learn_at_known_ = known_.size() + wait;
  learn_at_proposed_ = proposed_ + std::max<std::size_t>(4, wait);
}

/// A good one counts for as much as its logarithm is below the threshold, and all of them together for as much as all others.
RandomForest Forest::grown() {
  const std::size_t at_first = std::min(kGoodAtFirst, (known_.size() + 2) / 3);
  const auto tenth = static_cast<std::size_t>(std::ceil(kGoodShare * static_cast<double>(known_.size())));
  const std::size_t good = std::min({std::max(tenth, at_first), valid_ - 1, kMostRows / 2});
  const double threshold = known_[good].log_us;
  double below = 0;
  for (std::size_t i = 0; i < good; ++i) below += threshold - known_[i].log_us;

  const auto chosen = chosen_known(good);
  const double others = static_cast<double>(known_.size() - good) / static_cast<double>(chosen.size() - good);
  const double all = static_cast<double>(known_.size() + pending_.size());
  std::vector<space::Ordinal> ordinals;
  std::vector<DecisionTree::Target> targets;
  for (const std::size_t i : chosen) {
    // Each of the good is a positive row of some weight and a negative one of 1, which is one row of their mean.
    double positive = 0;
    if (i < good) positive = all * (below > 0 ? (threshold - known_[i].log_us) / below : 1 / static_cast<double>(good));
    const double negative = i < good ? 1 : others;
    targets.push_back({ordinals.size(), positive / (positive + negative), positive + negative});
    ordinals.push_back(known_[i].ordinal);
  }
  for (const auto ordinal : pending_) {
    targets.push_back({ordinals.size(), 0.0, 1.0});
    ordinals.push_back(ordinal);
  }
  return RandomForest(TrainingRows(space_, questions_, ordinals), targets, {kTrees, (questions_.size() + 1) / 2}, random_);
}

/// All, or the good and others evenly from what is slower.
std::vector<std::size_t> Forest::chosen_known(std::size_t good) const {
  const std::size_t others = std::min(known_.size(), kMostRows) - good, left = known_.size() - good;
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < good; ++i) chosen.push_back(i);
  for (std::size_t i = 0; i < others; ++i) chosen.push_back(good + i * left / others);
  return chosen;
}

/// Random ones, the neighbours of the fastest, and those of the most promising, which a random choice of a large space lacks.
void Forest::choose_candidates(const RandomForest& forest) {
  candidates_.clear();
  candidate_rows_.clear();
  were_candidates_.clear();
  for (const auto ordinal : space_.sample(kSampled, random_)) add_candidate(forest, ordinal);
  likeliest_first();
  for (std::size_t i = 0; i < std::min(kFastestWithNeighbours, valid_); ++i) add_neighbours(forest, known_[i].ordinal);
  for (int climb = 0; climb < kClimbs; ++climb)
    if (const auto best = most_promising()) add_neighbours(forest, *best);
}

void Forest::add_neighbours(const RandomForest& forest, space::Ordinal ordinal) {
  auto neighbours = space_.neighbours(ordinal, space::Neighbourhood::Hamming);
  shuffle(neighbours, random_);  // the first of equally promising ones is proposed
  for (const auto neighbour : neighbours) add_candidate(forest, neighbour);
  likeliest_first();
}

void Forest::likeliest_first() {
  std::stable_sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) { return a.chance > b.chance; });
}

void Forest::add_candidate(const RandomForest& forest, space::Ordinal ordinal) {
  if (trials_.contains(ordinal) || !were_candidates_.insert(ordinal).second) return;
  candidates_.push_back({ordinal, forest.value_of(space_.row(ordinal)), static_cast<float>(space_.width()), 0, candidates_.size()});
  candidate_rows_.add(ordinal);
}

/// The product keeps a search from going on among the like of the fastest: the trees take what they have not seen for what is nearest to
/// it, and are certain of both. Distances are what costs: with the most likely first, few candidates can still win by being far from all.
std::optional<space::Ordinal> Forest::most_promising() {
  const auto promise = [](const Candidate& one) { return (one.chance + kLeastChance) * static_cast<double>(one.apart); };
  double most = 0;
  std::optional<space::Ordinal> best;
  for (Candidate& candidate : candidates_) {
    const auto row = candidate_rows_.row(candidate.row);
    while (candidate.compared < tried_.size() && promise(candidate) > most)
      candidate.apart = distance(tried_.row(candidate.compared++), row, candidate.apart);
    if (promise(candidate) <= most) continue;
    most = promise(candidate);
    best = candidate.ordinal;
  }
  return best;
}

}  // namespace attune::search
