#pragma once
#include <functional>
#include <limits>
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
  /// How many proposals may be without a report before another is asked for: what is still to be learnt would be of use to it.
  [[nodiscard]] virtual std::size_t most_pending() const { return std::numeric_limits<std::size_t>::max(); }
  /// By how much its last proposal is expected to be faster than the best, as a share; nothing where it cannot say.
  [[nodiscard]] virtual std::optional<double> expected_gain() const { return std::nullopt; }
  /// The last tenth of a search begins: what is left is for the neighbours of the fastest.
  virtual void end_is_near() {}
};

class Hints;

enum class StrategyKind {
  Auto,          ///< what won elsewhere, then a model, then the fastest one's neighbours and a forest
  Exhaustive,    ///< enumeration order
  Random,        ///< a seeded permutation
  Model,         ///< a Gaussian process of what was measured, and what it expects to improve on the best
  Forest,        ///< a random forest of which were among the fastest, and what it takes for one of them
  Local,         ///< descents to faster neighbours from random configurations
  Genetic,       ///< crosses the fastest of a population
  Differential,  ///< moves the fastest by differences of others
  Swarm,         ///< particles drawn to the fastest that they have seen
  Annealing,     ///< a random walk that takes slower neighbours ever less often
  Portfolio,     ///< winners of other sizes only, for the sizes between those that were searched
  Winners        ///< winners of every problem of the template only, for types and choices beside those that were searched
};

/// As on the command line and in the database: the enumerators in small letters.
[[nodiscard]] const char* name(StrategyKind kind);
/// Throws: UsageError listing the known names.
[[nodiscard]] StrategyKind strategy_named(const std::string& text);
[[nodiscard]] std::vector<std::string> strategy_names();
/// Whether it proposes what won elsewhere and nothing else.
[[nodiscard]] bool needs_winners(StrategyKind kind);
/// Whether what is reported has a say in what is proposed.
[[nodiscard]] bool learns(StrategyKind kind);
/// Whether it says what it expects (Strategy::expected_gain), so that a search can end where that is too little.
[[nodiscard]] bool expects(StrategyKind kind);

struct StrategyOptions {
  StrategyKind kind = StrategyKind::Exhaustive;
  std::uint64_t seed = 0;
  std::optional<space::Ordinal> first = {};  ///< proposed before all others (the default configuration)
  std::shared_ptr<const Hints> hints = {};   ///< what other searches measured; read by `Auto` and `Model`
  std::vector<space::Ordinal> winners = {};  ///< what won before; read by `Auto` and the kinds that need it
  /// How much of the device a configuration can keep busy, from 0 to 1, as far as that is known before it is compiled; read by `Auto` and
  /// `Model` while nothing was measured.
  std::function<double(space::Ordinal)> promise = {};
  bool until_converged = false;  ///< expected_gain() decides when it ends; read by `Auto`
};

/// Requires: the space outlives the strategy. Throws: UsageError when `first` is outside the space.
[[nodiscard]] std::unique_ptr<Strategy> make_strategy(const StrategyOptions& options, const space::SearchSpace& space);

}  // namespace attune::search
