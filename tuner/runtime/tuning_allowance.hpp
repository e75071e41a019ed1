#pragma once
#include <limits>

namespace attune::runtime {

/// How long background tuning may have run: a token bucket of seconds. It starts with one problem's budget, gains
/// `share` of every second that passes, and pays for what tuning really took, which may be more than the budget; the
/// next problem starts when a whole budget is there again. Tuning so far is therefore at most
/// budget + share x elapsed, and what the last problem took beyond its budget.
class TuningAllowance {
 public:
  explicit TuningAllowance(double share) : share_(share) {}

  /// How long the next problem has to wait. Units: seconds since the bucket was made, and from now on.
  [[nodiscard]] double wait_s(double elapsed_s) const {
    if (spent_s_ <= share_ * elapsed_s) return 0;
    return share_ > 0 ? spent_s_ / share_ - elapsed_s : std::numeric_limits<double>::infinity();
  }
  void spend(double seconds) { spent_s_ += seconds; }
  [[nodiscard]] double spent_s() const noexcept { return spent_s_; }

 private:
  double share_;
  double spent_s_ = 0;
};

}  // namespace attune::runtime
