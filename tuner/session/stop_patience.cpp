#include "tuner/session/stop_patience.hpp"

#include <utility>

namespace attune::session {

StopPatience::StopPatience(std::function<bool()> stopped, std::function<Clock::time_point()> now)
    : stopped_(std::move(stopped)), now_(std::move(now)) {}

bool StopPatience::operator()() noexcept {
  if (over_) return false;
  try {
    if (!stopped_()) return true;
    const auto now = now_();
    if (!waits_since_ || now - asked_ > kPause) waits_since_ = now;
    asked_ = now;
    over_ = now - *waits_since_ > kPatience;
  } catch (...) {  // whoever could ask to stop is gone
    over_ = true;
  }
  return !over_;
}

}  // namespace attune::session
