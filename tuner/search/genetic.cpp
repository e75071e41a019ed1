#include "tuner/search/genetic.hpp"

#include <algorithm>

#include "tuner/search/draws.hpp"

namespace attune::search {
namespace {

constexpr std::size_t kPopulation = 12;  // of searches of some hundred measurements
constexpr int kMostKnownChildren = 50;

}  // namespace

Genetic::Genetic(const space::SearchSpace& space, std::uint64_t seed, std::optional<space::Ordinal> first)
    : ranks_(space), random_(seed), trials_(space.size(), first) {}

std::size_t Genetic::most_pending() const { return kPopulation / 2; }

std::optional<space::Ordinal> Genetic::propose() {
  if (members_.size() < kPopulation) return trials_.propose_any(random_);
  for (int tried = 0; tried < kMostKnownChildren; ++tried) {
    const space::Ordinal ordinal = child();
    // A child that is known has had its chance when it was reported.
    if (trials_.contains(ordinal)) continue;
    trials_.propose(ordinal);
    return ordinal;
  }
  members_.resize(1);
  return trials_.propose_any(random_);
}

void Genetic::report(space::Ordinal ordinal, std::optional<double> median_us) {
  const auto cost = trials_.report(ordinal, median_us);
  if (!cost) return;
  const auto place =
      std::upper_bound(members_.begin(), members_.end(), *cost, [](double own, const Member& member) { return own < member.cost; });
  members_.insert(place, {ordinal, *cost});
  if (members_.size() > kPopulation) members_.pop_back();
}

const Genetic::Member& Genetic::parent() {
  const std::size_t one = draw_index(random_, members_.size()), other = draw_index(random_, members_.size());
  return members_[std::min(one, other)];
}

space::Ordinal Genetic::child() {
  const space::Ordinal mother = parent().at;
  auto point = ranks_.point(mother);
  const auto father = ranks_.point(parent().at);
  for (std::size_t i = 0; i < point.size(); ++i) {
    if (draw_index(random_, 2) == 0) point[i] = father[i];
    if (draw_index(random_, point.size()) == 0) point[i] = static_cast<double>(draw_index(random_, ranks_.value_count(i)));
  }
  return ranks_.configuration_at(point, mother, random_);
}

}  // namespace attune::search
