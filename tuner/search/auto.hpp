#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "tuner/search/forest.hpp"
#include "tuner/search/local.hpp"
#include "tuner/search/model.hpp"
#include "tuner/search/polish.hpp"
#include "tuner/search/strategy.hpp"

namespace attune::search {

/// What is proposed where nobody says how: first what won elsewhere, then what a model expects most of. A model's proposals cost more with
/// each measurement and gain less: after some hundred the untried neighbours of the fastest follow, by turns with what a forest takes for
/// fast; after some thousand, by turns with descents from elsewhere. Each of them is told everything. Tries everything in the end.
/// Source: docs/decisions/0021-auto.md
class Auto final : public Strategy {
 public:
  /// Reads the options' seed, first, hints, winners, promise and until_converged, with which it stays with the model. Requires: the space
  /// outlives this.
  Auto(const space::SearchSpace& space, const StrategyOptions& options);

  [[nodiscard]] std::optional<space::Ordinal> propose() override;
  void report(space::Ordinal ordinal, std::optional<double> median_us) override;
  [[nodiscard]] std::size_t most_pending() const override;
  void end_is_near() override;
  [[nodiscard]] std::optional<double> expected_gain() const override { return model_ ? model_->expected_gain() : std::nullopt; }

 private:
  [[nodiscard]] std::optional<space::Ordinal> propose_unseen();

  std::vector<space::Ordinal> winners_;  ///< to be tried, the next one last
  bool stays_;                           ///< with the model
  std::optional<Model> model_;           ///< until it has had its turn
  Forest forest_;
  Local local_;
  Polish polish_;
  std::size_t reported_ = 0, turn_ = 0;
  bool is_near_end_ = false;
};

}  // namespace attune::search
