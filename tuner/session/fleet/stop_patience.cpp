#include "tuner/session/fleet/stop_patience.hpp"

#include <utility>

#include "db/lock_wait.hpp"

namespace attune::session {

StopPatience::StopPatience(std::function<bool()> stopped, std::function<Clock::time_point()> now, std::function<void()> waits)
    : stopped_(std::move(stopped)), now_(std::move(now)), waits_(std::move(waits)) {}

bool StopPatience::operator()() noexcept {
  if (over_) return false;
  try {
    const auto now = now_();
    const bool anew = now - asked_ > kPause;
    asked_ = now;
    if (anew) stopped_since_.reset();
    if (anew || !db::LockWait::now()) locked_since_.reset();
    if (db::LockWait::now() && !locked_since_) locked_since_ = now;
    if (!told_ && locked_since_ && now - *locked_since_ > kSilence) {
      told_ = true;
      waits_();
    }
    if (!stopped_()) return true;
    if (!stopped_since_) stopped_since_ = now;
    over_ = now - *stopped_since_ > kPatience;
  } catch (...) {  // whoever could ask to stop is gone
    over_ = true;
  }
  return !over_;
}

}  // namespace attune::session
