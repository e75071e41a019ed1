#pragma once
#include <chrono>
#include <cstdint>
#include <optional>

namespace attune::session {

/// When a search is to end, and what its steps have taken so far, from which it is told what would still end in time.
class SearchEnd {
 public:
  using Clock = std::chrono::steady_clock;

  /// A mean over all configurations of a problem so far; 0 while there is none.
  class Mean {
   public:
    void add(double s) {
      sum_s_ += s;
      ++count_;
    }
    [[nodiscard]] double seconds() const { return count_ == 0 ? 0 : sum_s_ / static_cast<double>(count_); }

   private:
    double sum_s_ = 0;
    std::uint64_t count_ = 0;
  };

  std::optional<Clock::time_point> when;  ///< nothing: it may take what it takes
  Mean compile, first_visit;              ///< a first visit verifies; later ones are expected to take what the one before took

  /// Whether what takes `seconds` from now on ends before that.
  [[nodiscard]] bool allows(double seconds) const { return !when || Clock::now() + std::chrono::duration<double>(seconds) < *when; }
  /// What was under way then, and is not over yet, was expected to be.
  [[nodiscard]] bool is_past(std::chrono::milliseconds grace) const { return when && Clock::now() > *when + grace; }
};

}  // namespace attune::session
