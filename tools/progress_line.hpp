#pragma once
#include <chrono>
#include <string>

#include "tuner/session/fleet/run_progress.hpp"
#include "tuner/space/build_watch.hpp"

namespace attune::tools {

/// "[2/4] reduce T=f32 n=2^20  312/2232 configurations  305/s  best 3.313 us  4 failed  ETA 12 s".
[[nodiscard]] std::string progress_text(const session::RunProgress::View& view);

/// "reduce T=f32 n=2^20: building the search space  12.3 %  5,123 configurations".
[[nodiscard]] std::string building_text(const std::string& what, const space::BuildProgress& progress);

/// The progress of a command on standard error: one line rewritten in place on a terminal; else a plain line now and
/// then, so that a log shows life.
class ProgressLine {
 public:
  enum class Style { None, InPlace, Plain };

  /// `quiet`: no plain lines (who reads events needs none).
  explicit ProgressLine(bool quiet);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  /// Whether `show` would print now: cheap, for callers that are called often.
  [[nodiscard]] bool due() const;
  void show(const session::RunProgress::View& view);
  void show(const std::string& text);
  /// Before anything else is written to the terminal.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  Style style_;
  Clock::time_point last_ = Clock::now();
  std::size_t width_ = 0;
};

}  // namespace attune::tools
