#include "tuner/session/search_memory.hpp"

#include <algorithm>

namespace attune::session {

void SearchMemory::remember(space::Ordinal ordinal, const measure::Measurement& measurement) {
  const auto& timing = measurement.timing;
  known_[ordinal] = {static_cast<float>(timing.low_us), static_cast<float>(timing.high_us), timing.median_us, measurement.outcome,
                     measurement.stage, measurement.verified, true};
}

std::vector<space::Ordinal> SearchMemory::fastest(std::size_t count) const {
  std::vector<space::Ordinal> found;
  for (space::Ordinal ordinal = 0; ordinal < known_.size(); ++ordinal) {
    if (known_[ordinal].measured() && known_[ordinal].verified) found.push_back(ordinal);
  }
  const auto kept = static_cast<std::ptrdiff_t>(std::min(found.size(), count));
  std::partial_sort(found.begin(), found.begin() + kept, found.end(),
                    [&](auto a, auto b) { return known_[a].median_us < known_[b].median_us; });
  found.resize(static_cast<std::size_t>(kept));
  return found;
}

bool SearchMemory::best_is_apart() const {
  const Known* best = nullptr;
  for (const Known& known : known_) {
    if (known.measured() && (best == nullptr || known.median_us < best->median_us)) best = &known;
  }
  if (best == nullptr) return false;
  return std::none_of(known_.begin(), known_.end(), [&](const Known& known) {
    return &known != best && known.measured() && known.low_us <= best->high_us;
  });
}

std::uint64_t SearchMemory::working() const {
  return static_cast<std::uint64_t>(
      std::count_if(known_.begin(), known_.end(), [](const Known& k) { return k.decided && k.outcome == measure::Outcome::Ok; }));
}

}  // namespace attune::session
