#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tuner/space/search_space.hpp"

namespace attune::search {

/// Decides which configuration is tried next. The session reports every outcome back; a strategy sees each ordinal at
/// most once. One strategy a file.
class Strategy {
 public:
  virtual ~Strategy() = default;
  /// Nothing when the strategy has no further proposal.
  [[nodiscard]] virtual std::optional<space::Ordinal> propose() = 0;
  /// `median_us`: nothing for a configuration that failed.
  virtual void report(space::Ordinal ordinal, std::optional<double> median_us) = 0;
};

struct StrategyOptions {
  std::uint64_t seed = 0;
  std::optional<space::Ordinal> first;  ///< proposed before all others (the default configuration)
  /// What won elsewhere: all that "portfolio" and "winners" propose besides `first`.
  std::vector<space::Ordinal> portfolio = {};
};

/// "exhaustive" (enumeration order), "random" (seeded permutation), "portfolio" (winners of other sizes only, for the sizes between those
/// that were searched) or "winners" (those of every problem of the template, for types and choices beside those that were). Throws: UsageError listing the known names.
[[nodiscard]] std::unique_ptr<Strategy> make_strategy(const std::string& name, const space::SearchSpace& space,
                                                      const StrategyOptions& options);
[[nodiscard]] std::vector<std::string> strategy_names();

}  // namespace attune::search
