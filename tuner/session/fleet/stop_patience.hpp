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

  static constexpr std::chrono::milliseconds kSilence{2000};

  /// `stopped`: whether the run was asked to stop; if it throws, the run stops at once. `now`: the clock; tests give another. `waits`:
  /// called once, when a wait for a lock (db::LockWait) is longer than kSilence.
  explicit StopPatience(
      std::function<bool()> stopped, std::function<Clock::time_point()> now = Clock::now, std::function<void()> waits = [] {});
  /// Whether to go on. Once it has said no it says nothing else. No exception: SQLite asks, which lets none through.
  [[nodiscard]] bool operator()() noexcept;

 private:
  std::function<bool()> stopped_;
  std::function<Clock::time_point()> now_;
  std::function<void()> waits_;
  std::optional<Clock::time_point> locked_since_, stopped_since_;
  Clock::time_point asked_{};
  bool told_ = false, over_ = false;
};

}  // namespace attune::session
