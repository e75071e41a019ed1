#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace attune::session {

/// What a first visit of a configuration takes, which verifies it, as others' told: for the short ones what does not depend on them, for
/// the long ones so many of their calls.
struct VisitCost {
  static constexpr double kFewestCalls = 5;  ///< a guarded one on each of two sets of data, two to calibrate, and a sample
  static constexpr double kMostCalls = 20;   ///< on data as large as those that are timed

  double calls = 0;    ///< of the configuration, in the time of the visit; 0: none was seen
  double seconds = 0;  ///< of the visit

  /// Of one whose call takes `call_us`.
  [[nodiscard]] double expected_s(double call_us) const {
    const double call_s = call_us / 1e6;
    return calls > 0 ? std::min(calls * call_s, seconds + kMostCalls * call_s) : kFewestCalls * call_s;
  }
};

/// When a search is to end, and what its steps have taken so far, from which it is told what would still end in time.
class SearchEnd {
 public:
  using Clock = std::chrono::steady_clock;

  /// A mean over all configurations of a problem so far; 0 while there is none.
  class Mean {
   public:
    void add(double value) {
      sum_ += value;
      ++count_;
    }
    [[nodiscard]] double value() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }

   private:
    double sum_ = 0;
    std::uint64_t count_ = 0;
  };

  std::optional<Clock::time_point> when;  ///< nothing: it may take what it takes
  /// Seconds. A first visit verifies; later ones are expected to take what the one before took.
  Mean compile, first_visit;

  /// Whether what takes `seconds` from now on ends before that.
  [[nodiscard]] bool allows(double seconds) const { return !when || Clock::now() + std::chrono::duration<double>(seconds) < *when; }
  /// What was under way then, and is not over yet, was expected to be.
  [[nodiscard]] bool is_past(std::chrono::milliseconds grace) const { return when && Clock::now() > *when + grace; }
};

}  // namespace attune::session
