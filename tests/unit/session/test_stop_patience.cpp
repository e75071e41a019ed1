#include "tuner/session/fleet/stop_patience.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

#include "db/lock_wait.hpp"

namespace test_stop_patience {

using attune::session::StopPatience;
using namespace std::chrono_literals;

namespace {

struct Asked {
  bool stopped = false;
  StopPatience::Clock::time_point now{};
  int told = 0;
  StopPatience patience{[this] { return stopped; }, [this] { return now; }, [this] { ++told; }};

  /// Asks again and again for so long, as a database does that waits.
  bool keeps_going_for(std::chrono::milliseconds time) {
    for (const auto end = now + time; now < end; now += 10ms) {
      if (!patience()) return false;
    }
    return true;
  }
};

}  // namespace

TEST_CASE_FIXTURE(Asked, "who was not asked to stop waits as long as it takes") { CHECK(keeps_going_for(10 * StopPatience::kPatience)); }

TEST_CASE_FIXTURE(Asked, "a wait that a stop meets goes on for a while, ends, and nothing is begun afterwards") {
  CHECK(keeps_going_for(10 * StopPatience::kPatience));
  stopped = true;
  CHECK(keeps_going_for(StopPatience::kPatience / 2));
  CHECK_FALSE(keeps_going_for(StopPatience::kPatience));
  now += 100 * StopPatience::kPatience;
  CHECK_FALSE(patience());
}

TEST_CASE_FIXTURE(Asked, "what is stored long after a stop is stored, however often: no single wait was long") {
  stopped = true;
  for (int i = 0; i < 20; ++i) {
    CHECK(keeps_going_for(StopPatience::kPatience / 2));
    now += 2 * StopPatience::kPause;
  }
}

TEST_CASE_FIXTURE(Asked, "a database that works for long without a pause, and waits for nobody, is not told to wait") {
  CHECK(keeps_going_for(10 * StopPatience::kSilence));
  CHECK(told == 0);
}

TEST_CASE_FIXTURE(Asked, "a long wait for a lock is told once, many short ones are not, with work between them or a pause") {
  for (int i = 0; i < 20; ++i) {
    {
      const attune::db::LockWait wait;
      CHECK(keeps_going_for(StopPatience::kSilence / 2));
    }
    CHECK(keeps_going_for(20ms));
  }
  const attune::db::LockWait wait;
  for (int i = 0; i < 20; ++i) {
    CHECK(keeps_going_for(StopPatience::kSilence / 2));
    now += 2 * StopPatience::kPause;
  }
  CHECK(told == 0);
  CHECK(keeps_going_for(2 * StopPatience::kSilence));
  CHECK(told == 1);
  now += 2 * StopPatience::kPause;
  CHECK(keeps_going_for(2 * StopPatience::kSilence));
  CHECK(told == 1);
}

TEST_CASE("where nobody can ask to stop any more the wait ends at once, and no exception reaches who asks") {
  StopPatience patience([]() -> bool { throw std::runtime_error("the channel is closed"); });
  CHECK_FALSE(patience());
  CHECK_FALSE(patience());
}

}  // namespace test_stop_patience
