#include "tuner/search/auto.hpp"

#include <algorithm>

namespace attune::search {
namespace {

constexpr std::size_t kModelled = 300;    // reports, after which a model's proposals cost more than they gain
constexpr std::size_t kForested = 3000;   // after which a forest's do
constexpr std::size_t kMostWinners = 24;  // of other problems: the model finds the rest
constexpr std::size_t kFastest = 5;       // whose neighbours are tried

}  // namespace

Auto::Auto(const space::SearchSpace& space, const StrategyOptions& options)
    : winners_(options.winners.begin(),
               options.winners.begin() + static_cast<std::ptrdiff_t>(std::min(options.winners.size(), kMostWinners))),
      stays_(options.until_converged),
      model_(std::in_place, space, options.seed, std::nullopt, options.hints, options.promise),
      forest_(space, options.seed, std::nullopt),
      local_(space, options.seed, std::nullopt),
      polish_(space, kFastest) {
  std::reverse(winners_.begin(), winners_.end());
  if (options.first) winners_.push_back(*options.first);
}

std::optional<space::Ordinal> Auto::propose() {
  while (!winners_.empty()) {
    const space::Ordinal winner = winners_.back();
    winners_.pop_back();
    if (polish_.was_proposed(winner)) continue;
    polish_.note_proposal(winner);
    if (model_) model_->note_proposal(winner);
    return winner;
  }
  while (const auto ordinal = propose_unseen()) {
    if (polish_.was_proposed(*ordinal)) continue;
    polish_.note_proposal(*ordinal);
    return ordinal;
  }
  return std::nullopt;
}

/// Unseen by the one that proposes it; another may have proposed it.
std::optional<space::Ordinal> Auto::propose_unseen() {
  if (model_ && (stays_ || reported_ < kModelled)) return model_->propose();
  model_.reset();
  if (is_near_end_ || turn_++ % 2 == 0) {
    if (const auto neighbour = polish_.propose()) return neighbour;
  }
  if (reported_ < kForested) return forest_.propose();
  return local_.propose();
}

void Auto::report(space::Ordinal ordinal, std::optional<double> median_us) {
  ++reported_;
  if (model_) model_->report(ordinal, median_us);
  forest_.report(ordinal, median_us);
  local_.report(ordinal, median_us);
  polish_.report(ordinal, median_us);
}

void Auto::end_is_near() {
  is_near_end_ = true;
  if (model_) model_->end_is_near();
}

std::size_t Auto::most_pending() const { return model_ ? model_->most_pending() : forest_.most_pending(); }

}  // namespace attune::search
