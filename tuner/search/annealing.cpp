#include "tuner/search/annealing.hpp"

#include <cmath>
#include <utility>

#include "tuner/search/draws.hpp"

namespace attune::search {
namespace {

constexpr double kHottest = 0.5;         // half of what is half as slow again is taken, about
constexpr double kColdest = 0.002;       // less than a measurement's spread
constexpr double kCooling = 0.97;        // 180 steps from the hottest to the coldest: the searches that this is for have some hundred
constexpr int kMostFruitlessSteps = 50;  // to what was tried before

}  // namespace

Annealing::Annealing(const space::SearchSpace& space, std::uint64_t seed, std::optional<space::Ordinal> first)
    : space_(space), random_(seed), first_(first), trials_(space.size()), temperature_(kHottest) {}

std::optional<space::Ordinal> Annealing::propose() {
  if (const auto first = std::exchange(first_, std::nullopt)) {
    trials_.propose(*first);
    return first;
  }
  for (int step = 0; step < kMostFruitlessSteps && current_ && !neighbours_.empty() && temperature_ > kColdest; ++step) {
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
  if (const auto cost = trials_.report(ordinal, median_us)) step_to(ordinal, *cost);
}

/// Metropolis' rule. What was proposed beside another place is no more than a distant neighbour of the current one.
void Annealing::step_to(space::Ordinal ordinal, double cost) {
  if (!std::isfinite(cost)) return;
  if (current_) {
    temperature_ *= kCooling;
    const bool is_slower = cost > current_cost_;
    if (is_slower && draw_real(random_) >= std::exp((1 - cost / current_cost_) / temperature_)) return;
  }
  current_ = ordinal;
  current_cost_ = cost;
  neighbours_ = space_.neighbours(ordinal, space::Neighbourhood::Hamming);
}

void Annealing::begin_again() {
  if (!current_) return;
  current_.reset();
  temperature_ = kHottest;
}

}  // namespace attune::search
