#pragma once
#include <chrono>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "tuner/session/tune/known_results.hpp"

namespace attune::session {

/// What the searches of one problem come to together: how many configurations did what, when the best time fell, and how long the device
/// was at work.
class ProblemTally {
 public:
  using Clock = std::chrono::steady_clock;

  ProblemTally(const ProblemContext& context, const KnownResults& known);
  ProblemTally(const ProblemTally&) = delete;
  ProblemTally& operator=(const ProblemTally&) = delete;

  /// A search begins; the first one starts the clock.
  void begin_search();
  /// A configuration goes to the device.
  void submitted();
  /// A fresh measurement is in the database.
  void measured();
  /// A proposal was known from before: told before decided().
  void reused(space::Ordinal ordinal);
  /// A proposal has an outcome, fresh or known. Parts that are searched in turn may overlap: a configuration is counted once.
  void decided(space::Ordinal ordinal);
  /// A configuration failed: told by decided(), and by who finds that in a run-off.
  void count_failure(space::Ordinal ordinal);

  /// A search ended before all that its other limits allow was decided.
  void ran_out_of_time() noexcept { out_of_time_ = true; }
  /// Whether some did.
  [[nodiscard]] bool out_of_time() const noexcept { return out_of_time_; }

  /// Proposals that have an outcome, of all searches.
  [[nodiscard]] std::uint64_t evaluations() const noexcept { return evaluations_; }
  /// How many of them it took to find one that is at most `share` slower than the best; 0: none worked.
  [[nodiscard]] std::uint64_t best_found_at(double share = 0) const;
  /// The strategy took this long to propose, or to learn.
  void searched(double seconds) noexcept { searching_s_ += seconds; }
  /// How busy everything was, from what the backend says: after the searches, before anything runs off. Requires: something was measured.
  void account(const Utilisation& of_backend);
  /// Stops the clock.
  void finish();
  /// [[evaluations, seconds, microseconds of the best so far], ...]
  [[nodiscard]] nlohmann::json convergence() const;

  /// What the searches and the choice of the winner came to; each writes what it finds out.
  ProblemResult result;

 private:
  struct Point {
    std::uint64_t evaluations;
    double elapsed_s;
    double time_us;  ///< of the best so far
    double cost;     ///< likewise
  };
  [[nodiscard]] double elapsed_s() const;

  const ProblemContext& context_;
  const KnownResults& known_;
  std::vector<bool> noted_;  ///< by ordinal of the whole space: counted in `result`
  std::uint64_t evaluations_ = 0;
  std::vector<Point> convergence_;
  double best_cost_ = 0;
  Clock::time_point start_ = Clock::now();
  std::optional<Clock::time_point> first_submit_;
  double searching_s_ = 0;
  bool out_of_time_ = false;
};

}  // namespace attune::session
