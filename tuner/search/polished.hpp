#pragma once
#include <memory>

#include "tuner/search/polish.hpp"
#include "tuner/search/strategy.hpp"

namespace attune::search {

/// Another strategy, whose last tenth goes to the untried neighbours of the fastest.
class Polished final : public Strategy {
 public:
  /// Requires: the space outlives this.
  Polished(std::unique_ptr<Strategy> strategy, const space::SearchSpace& space);

  [[nodiscard]] std::optional<space::Ordinal> propose() override;
  void report(space::Ordinal ordinal, std::optional<double> median_us) override;
  [[nodiscard]] std::size_t most_pending() const override { return strategy_->most_pending(); }
  void end_is_near() override { is_near_ = true; }

 private:
  [[nodiscard]] std::optional<space::Ordinal> propose_unseen();

  std::unique_ptr<Strategy> strategy_;
  Polish polish_;
  bool is_near_ = false;
};

}  // namespace attune::search
