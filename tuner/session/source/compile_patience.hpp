#pragma once
#include <chrono>
#include <vector>

#include "tuner/base/median.hpp"

namespace attune::session {

/// How long a compilation may go on while others wait for its worker, by what others took. Of a template with much to unroll a few
/// configurations take many times the others', and hold all workers when it is their turn.
class CompilePatience {
 public:
  /// `search`: the time that the whole search has.
  explicit CompilePatience(std::chrono::duration<double> search = {}) : least_s_(search.count() * kLeastShare) {}
  void add(double seconds) {
    if (least_s_ <= 0) return;
    taken_s_.push_back(seconds);
    if (taken_s_.size() >= kFewest && taken_s_.size() % kAnew == 0) median_s_ = base::median(taken_s_);
  }
  /// 0: for as long as it takes, as long as too few are known, and where the search has all the time.
  [[nodiscard]] std::chrono::milliseconds limit() const {
    if (median_s_ <= 0) return {};
    return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(std::max(kTimesMedian * median_s_, least_s_)));
  }

 private:
  static constexpr double kTimesMedian = 4;
  static constexpr double kLeastShare = 0.02;  // of the search: what takes less is no trouble
  static constexpr std::size_t kFewest = 8, kAnew = 8;

  double least_s_, median_s_ = 0;
  std::vector<double> taken_s_;
};

}  // namespace attune::session
