#include "tuner/search/annealing.hpp"

#include <cmath>

#include "tuner/search/draws.hpp"

namespace attune::search {
namespace {

constexpr std::size_t kBeginnings = 10;  // random configurations, the fastest of which a walk begins at
constexpr double kHottest = 0.1;         // what is a tenth slower is taken in one of three cases: twice as slow hardly ever
constexpr double kColdest = 0.002;       // less than a measurement's spread
constexpr double kCooling = 0.97;        // 130 steps from the hottest to the coldest: searches have some hundred
constexpr int kMostFruitlessSteps = 50;  // to what was tried before

}  // namespace

Annealing::Annealing(const space::SearchSpace& space, std::uint64_t seed, std::optional<space::Ordinal> first)
    : space_(space), random_(seed), trials_(space.size(), first), temperature_(kHottest), beginnings_left_(kBeginnings) {}

std::optional<space::Ordinal> Annealing::propose() {
  if (beginnings_left_ > 0 || !current_) return trials_.propose_any(random_);
  for (int step = 0; step < kMostFruitlessSteps && !neighbours_.empty() && temperature_ > kColdest; ++step) {
    const space::Ordinal neighbour = neighbours_[draw_index(random_, neighbours_.size())];
    if (!trials_.contains(neighbour)) {
      trials_.propose(neighbour);
      return neighbour;
    }
    if (const auto cost = trials_.cost(neighbour)) step_to(neighbour, *cost);
  }
  begin_again();
  return trials_.propose_any(random_);
}

void Annealing::report(space::Ordinal ordinal, std::optional<double> median_us) {
  const auto cost = trials_.report(ordinal, median_us);
  if (!cost) return;
  if (beginnings_left_ == 0 && current_) return step_to(ordinal, *cost);
  if (beginnings_left_ > 0) --beginnings_left_;
  if (std::isfinite(*cost) && (!current_ || *cost < current_cost_)) stand_at(ordinal, *cost);
}

/// Metropolis' rule. What was proposed beside another place is no more than a distant neighbour of the current one.
void Annealing::step_to(space::Ordinal ordinal, double cost) {
  if (!std::isfinite(cost)) return;
  temperature_ *= kCooling;
  const bool is_slower = cost > current_cost_;
  if (!is_slower || draw_real(random_) < std::exp((1 - cost / current_cost_) / temperature_)) stand_at(ordinal, cost);
}

void Annealing::stand_at(space::Ordinal ordinal, double cost) {
  current_ = ordinal;
  current_cost_ = cost;
  neighbours_ = space_.neighbours(ordinal, space::Neighbourhood::Hamming);
}

void Annealing::begin_again() {
  current_.reset();
  temperature_ = kHottest;
  beginnings_left_ = kBeginnings;
}

}  // namespace attune::search
