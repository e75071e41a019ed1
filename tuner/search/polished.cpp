#include "tuner/search/polished.hpp"

namespace attune::search {
namespace {

constexpr std::size_t kFastest = 3;  // whose neighbours are tried

}  // namespace

Polished::Polished(std::unique_ptr<Strategy> strategy, const space::SearchSpace& space)
    : strategy_(std::move(strategy)), polish_(space, kFastest) {}

std::optional<space::Ordinal> Polished::propose() {
  while (const auto ordinal = propose_unseen()) {
    if (polish_.was_proposed(*ordinal)) continue;
    polish_.note_proposal(*ordinal);
    return ordinal;
  }
  return std::nullopt;
}

/// Unseen by the one that proposes it; the other may have proposed it.
std::optional<space::Ordinal> Polished::propose_unseen() {
  if (is_near_)
    if (const auto neighbour = polish_.propose()) return neighbour;
  return strategy_->propose();
}

void Polished::report(space::Ordinal ordinal, std::optional<double> median_us) {
  strategy_->report(ordinal, median_us);
  polish_.report(ordinal, median_us);
}

}  // namespace attune::search
