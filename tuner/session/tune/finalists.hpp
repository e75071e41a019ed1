#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tuner/measure/measurement.hpp"
#include "tuner/session/source/backend.hpp"

namespace attune::session {

/// What the choice of finalists needs to know of a measurement.
struct Candidate {
  std::string configuration;
  measure::Outcome outcome = measure::Outcome::Ok;
  measure::Stage stage = measure::Stage::None;
  bool may_win = false;  ///< as Known::may_win
  double cost = 0;       ///< as Known::cost
};

/// How many run off: everybody whose median of the search lies within `ratio` of the best, but at least `fewest` and at most
/// `most` (as far as there are any). Times of separate loads of one configuration differ by up to a per cent, so the
/// search's order says little about those that are closer.
struct FinalistRule {
  std::size_t fewest = 6;
  std::size_t most = 24;
  double ratio = 1.03;
  bool grows = true;  ///< with the search: for_search_of()

  /// The rule as it is by itself, but for the upper bound, which stays. Requires: `most` >= 1.
  [[nodiscard]] static FinalistRule of_at_most(std::size_t most);
  /// This rule after a search that tried `configurations`: where it grows, one of kTriedForEach may run off, and kMostGrown at most, should
  /// that be more than `most`.
  [[nodiscard]] FinalistRule for_search_of(std::size_t configurations) const;
  /// In a search of 12,000 configurations some sixty lie within 3 %, and each median is off by half a per cent, so that the 24 fastest by
  /// their medians may lack the truly fastest. Letting a hundredth run off costs such a search a few per cent of its time. The bound is
  /// there because all finalists' code and scratch are loaded at once. Source: docs/measurement.md
  static constexpr std::size_t kTriedForEach = 100, kMostGrown = 125;
};

/// Configurations that go into the run-off: the fastest that may win in the order of their medians, then those `joining` that run and are
/// not among them, as the default does. Others that were screened out never qualify, nor does anything where nothing else qualifies.
[[nodiscard]] std::vector<std::string> choose_finalists(std::vector<Candidate> candidates, const std::vector<std::string>& joining,
                                                        const FinalistRule& rule);

/// One finalist after the run-off.
struct Placed {
  std::string configuration;
  double median_us = 0;               ///< over the rounds
  double low_us = 0, high_us = 0;     ///< order-statistic interval of that median
  measure::PairedComparison to_best;  ///< paired ratio: this / the fastest
  bool tied = false;                  ///< cannot be told from the fastest, and is close to it (kFarthestTie, Race::kFew)
  std::size_t observations = 0;       ///< epochs, or rounds of a run-off without epochs
};

struct Decided {
  std::size_t winner = 0;  ///< into `placed`
  bool tie = false;        ///< another finalist cannot be told from the winner
  /// Those that ran to the end, ascending by their time relative to their rounds', then those that left earlier.
  std::vector<Placed> placed;
};

/// An interval that reaches 1 is no tie when the ratio itself is larger than this: too few observations to tell, not equality.
inline constexpr double kFarthestTie = 1.004;
inline constexpr double kEqual = 1.001;

/// The published winner: the fastest, unless the default or a configuration of fewer registers, then less shared memory, is
/// tied with it and within kEqual of its time. A wider preference would make the winner depend on who happens to be tied.
/// Requires: at least one round; `resources` holds a measurement of every configuration that ran to the end.
[[nodiscard]] Decided decide(const RunOffSamples& samples, const std::vector<measure::Measurement>& resources,
                             const std::string& default_configuration);

}  // namespace attune::session
