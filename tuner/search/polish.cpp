#include "tuner/search/polish.hpp"

#include <algorithm>

namespace attune::search {

void Polish::report(space::Ordinal ordinal, std::optional<double> median_us) {
  proposed_.insert(ordinal);
  if (!median_us) return;
  const auto before = [](const Fast& fast, double us) { return fast.median_us <= us; };
  const auto place = std::lower_bound(fastest_.begin(), fastest_.end(), *median_us, before);
  if (place == fastest_.end() && fastest_.size() == most_) return;
  fastest_.insert(place, Fast{*median_us, ordinal});
  if (fastest_.size() > most_) fastest_.pop_back();
}

std::optional<space::Ordinal> Polish::propose() {
  for (auto& fast : fastest_) {
    if (!std::exchange(fast.is_expanded, true)) {
      fast.neighbours = space_.neighbours(fast.ordinal, space::Neighbourhood::Hamming);
      std::reverse(fast.neighbours.begin(), fast.neighbours.end());
    }
    while (!fast.neighbours.empty()) {
      const space::Ordinal neighbour = fast.neighbours.back();
      fast.neighbours.pop_back();
      if (!proposed_.contains(neighbour)) return neighbour;
    }
  }
  return std::nullopt;
}

}  // namespace attune::search
