#pragma once
#include <chrono>
#include <functional>
#include <optional>

namespace attune::session {

/// What the database of a run asks (db::KeepGoing). After the run was asked to stop there is still something to store, which is a
/// matter of milliseconds and goes on. Whoever waits for another process then, for a lock that it holds or for the opening of the
/// database, does so for kPatience and no longer: Ctrl-C must not wait for somebody else's half minute.
class StopPatience {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kPatience{1000};
  /// A database that waits asks more often, and one that is used anew after so long has not waited.
  static constexpr std::chrono::milliseconds kPause{300};

  /// `stopped`: whether the run was asked to stop; what it throws counts as yes, without patience. `now`: the time, for tests.
  explicit StopPatience(std::function<bool()> stopped, std::function<Clock::time_point()> now = Clock::now);
  /// Whether to go on. Once it has said no it says nothing else. No exception: SQLite asks, which lets none through.
  [[nodiscard]] bool operator()() noexcept;

 private:
  std::function<bool()> stopped_;
  std::function<Clock::time_point()> now_;
  std::optional<Clock::time_point> waits_since_;
  Clock::time_point asked_{};
  bool over_ = false;
};

}  // namespace attune::session
