#pragma once
#include <memory>

#include "tuner/search/polish.hpp"
#include "tuner/search/strategy.hpp"

namespace attune::search {

/// Another strategy, whose last tenth goes to the untried neighbours of the fastest.
class Polished final : public Strategy {
 public:
  /// `evaluations`: how many proposals there will be; nothing: end_is_near() tells. Requires: the space outlives this.
  Polished(std::unique_ptr<Strategy> strategy, const space::SearchSpace& space, std::optional<std::uint64_t> evaluations);

  [[nodiscard]] std::optional<space::Ordinal> propose() override;
  void report(space::Ordinal ordinal, std::optional<double> median_us) override;
  [[nodiscard]] std::size_t most_pending() const override { return strategy_->most_pending(); }
  void end_is_near() override { is_near_ = true; }

 private:
  [[nodiscard]] std::optional<space::Ordinal> propose_unseen();

  std::unique_ptr<Strategy> strategy_;
  Polish polish_;
  std::optional<std::uint64_t> evaluations_;
  std::uint64_t proposed_ = 0;
  bool is_near_ = false;
};

}  // namespace attune::search
