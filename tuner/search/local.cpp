#include "tuner/search/local.hpp"

#include <cmath>

#include "tuner/search/draws.hpp"

namespace attune::search {
namespace {

constexpr std::size_t kStarts = 10;  // random configurations, the best of which a descent begins at

}  // namespace

Local::Local(const space::SearchSpace& space, std::uint64_t seed, std::optional<space::Ordinal> first)
    : space_(space), random_(seed), trials_(space.size(), first) {}

std::optional<space::Ordinal> Local::propose() {
  if (choosing_start_ && starts_ >= kStarts && best_start_) descend_from(*best_start_);
  if (!choosing_start_) {
    if (const auto neighbour = untried_neighbour()) {
      trials_.propose(*neighbour);
      return neighbour;
    }
    // Those without a report may still be faster: then the descent goes on (report), and what was tried in between is known.
    choosing_start_ = true;
    starts_ = 0;
    best_start_.reset();
  }
  return trials_.propose_any(random_);
}

void Local::report(space::Ordinal ordinal, std::optional<double> median_us) {
  const auto cost = trials_.report(ordinal, median_us);
  if (!cost) return;
  if (current_ && *cost < current_->cost) return descend_from({ordinal, *cost});
  if (!choosing_start_) return;
  ++starts_;
  if (std::isfinite(*cost) && (!best_start_ || *cost < best_start_->cost)) best_start_ = Place{ordinal, *cost};
}

/// Goes on from there, as far as what is known leads.
void Local::descend_from(Place place) {
  current_ = place;
  choosing_start_ = false;
  for (bool is_minimum = false; !is_minimum;) {
    is_minimum = true;
    neighbours_ = space_.neighbours(current_->ordinal, space::Neighbourhood::Hamming);
    for (const space::Ordinal neighbour : neighbours_) {
      const auto cost = trials_.cost(neighbour);
      if (!cost || *cost >= place.cost) continue;
      place = {neighbour, *cost};
      is_minimum = false;
    }
    current_ = place;
  }
  shuffle(neighbours_, random_);
}

std::optional<space::Ordinal> Local::untried_neighbour() {
  while (!neighbours_.empty()) {
    const space::Ordinal neighbour = neighbours_.back();
    neighbours_.pop_back();
    if (!trials_.contains(neighbour)) return neighbour;
  }
  return std::nullopt;
}

}  // namespace attune::search
