#pragma once
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace attune::session {

/// Medians of consecutive groups of `group` values, an epoch each: what counts as one observation.
[[nodiscard]] std::vector<double> observations(const std::vector<double>& values, std::size_t group);
/// Every time of one round over their geometric mean. What all samples of a round share, the device's drift, cancels here
/// and not in medians of the times themselves, which the few epochs of middling drift would decide.
[[nodiscard]] std::vector<double> relative_times(const std::vector<double>& round_us);

/// What an epoch takes of a finalist whose call takes `call_us`, expected: loading, calibrating, and its rounds.
[[nodiscard]] double expected_epoch_s(double call_us, int rounds);

/// The run-off as a race: in every epoch the finalists still running are loaded afresh and sampled in interleaved rounds;
/// who is slower than the leader beyond doubt leaves. What remains when the epochs are over cannot be told apart, or is
/// alone.
///
/// Where code, scratch and data lie in memory changes a kernel's time by up to a per cent, the same way for as long as they
/// lie there. Rounds of one epoch share that, so they do not count as independent: an epoch is one observation, the median
/// of its rounds' paired ratios, and intervals are order statistics of the epochs.
/// Source: docs/measurement.md
class Race {
 public:
  struct Options {
    int rounds = 3;          ///< of an epoch
    int fewest = 8;          ///< epochs before an interval of them decides: with fewer it is their whole range, and errs too often
    int most = 21;           ///< epochs; half as many more while over kFew finalists are left
    bool all_stay = false;   ///< nobody leaves, however slow
    double hopeless = 1.03;  ///< who is slower than this many times the leader's time in every epoch leaves at once
    /// On a GPU no epoch begins that is not expected to end by then; what was run until then decides.
    std::optional<std::chrono::steady_clock::time_point> until{};
    std::vector<double> known_us{};  ///< with `until`: what a call of each finalist takes, from which it is told what would end in time
    /// On a GPU asked some ten times a second: once it says no, the epoch under way is ended; those before it decide.
    std::function<bool()> goes_on = [] { return true; };

    [[nodiscard]] static Options of_at_most(int epochs);
  };
  static constexpr std::size_t kFew = 5;
  /// A finalist that took more than kClear times the leader's time in every epoch leaves after kEarly epochs, before `fewest`. The race
  /// ends as early when one is left.
  static constexpr int kEarly = 5;
  static constexpr double kClear = 1.01;
  /// The confidence of the intervals of ratios: they are looked at after every epoch, so that a single look must err rarely.
  static constexpr double kConfidence = 0.99;

  Race(std::size_t finalists, const Options& options);

  /// How many epochs a race has while so many finalists are left.
  [[nodiscard]] static int most_epochs(std::size_t left, const Options& options);
  /// Finalists that run in the next epoch, ascending; empty when the race is over.
  [[nodiscard]] std::vector<std::size_t> running() const;
  /// `rounds_us[round][k]` belongs to running()[k]. Throws: Error when the shape differs or a time is not above 0.
  void add_epoch(const std::vector<std::vector<double>>& rounds_us);
  [[nodiscard]] int epochs() const noexcept { return epochs_; }
  [[nodiscard]] bool still_runs(std::size_t finalist) const { return runs_[finalist]; }
  /// [epoch][round] of a finalist, from the first epoch on. Units: microseconds per call.
  [[nodiscard]] const std::vector<std::vector<double>>& rounds_us(std::size_t finalist) const { return rounds_us_[finalist]; }
  /// Paired ratios finalist / other over the rounds that both ran, one an epoch (the median of its rounds).
  [[nodiscard]] std::vector<double> ratios(std::size_t finalist, std::size_t other) const;
  /// The finalist with the smallest median of relative times over the epochs, among those that ran all of them.
  [[nodiscard]] std::size_t leader() const;

 private:
  using Rounds = std::vector<std::vector<double>>;  ///< [epoch][round] of one finalist
  void drop_slow();

  Options options_;
  int epochs_ = 0;
  std::vector<Rounds> rounds_us_;  ///< by finalist
  std::vector<bool> runs_;
};

/// Whether a race under these rules would go on where one ended after so many rounds, with so many finalists left. One round are medians
/// of a search, no race.
[[nodiscard]] bool would_go_on(std::size_t left, std::size_t rounds, std::size_t rounds_per_epoch, const Race::Options& options);

}  // namespace attune::session
