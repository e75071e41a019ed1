// Results that threads make ahead of the one that takes them.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/support/sanitized.hpp"
#include "tests/support/wait_until.hpp"
#include "tools/fleet/work_ahead.hpp"

namespace test_work_ahead {

using namespace attune::tools;
using namespace std::chrono_literals;

struct Made {
  std::size_t number = 0, size = 1;
  [[nodiscard]] std::size_t bytes() const { return size; }
};

/// What would begin beyond a limit would begin at once: a while is enough to see it.
void give_it_a_while() { std::this_thread::sleep_for(30ms); }

TEST_CASE("results are taken in their order, whatever order they are made in") {
  std::atomic<bool> second_is_made{false};
  WorkAhead<Made> ahead(20, {4, 20, 1000}, [&](std::size_t number) {
    if (number == 0) static_cast<void>(attune::test::wait_until([&] { return second_is_made.load(); }));
    if (number == 1) second_is_made = true;
    return Made{number};
  });
  for (std::size_t i = 0; i < 20; ++i) CHECK(ahead.take().number == i);
  CHECK(second_is_made.load());
}

TEST_CASE("what making one throws comes in its place, and those after it are given") {
  WorkAhead<Made> ahead(5, {2, 5, 1000}, [](std::size_t number) {
    if (number == 1 || number == 4) throw std::runtime_error("number " + std::to_string(number));
    return Made{number};
  });
  CHECK(ahead.take().number == 0);
  CHECK_THROWS_WITH_AS((void)ahead.take(), "number 1", std::runtime_error);
  CHECK(ahead.take().number == 2);
  CHECK(ahead.take().number == 3);
  CHECK_THROWS_WITH_AS((void)ahead.take(), "number 4", std::runtime_error);
}

TEST_CASE("no more are begun than may wait, and each that is taken lets one begin") {
  std::atomic<std::size_t> begun{0};
  WorkAhead<Made> ahead(10, {2, 3, 1000}, [&](std::size_t number) {
    ++begun;
    return Made{number};
  });
  REQUIRE(attune::test::wait_until([&] { return begun == 3; }));
  give_it_a_while();
  CHECK(begun == 3);
  CHECK(ahead.take().number == 0);
  REQUIRE(attune::test::wait_until([&] { return begun == 4; }));
  give_it_a_while();
  CHECK(begun == 4);
  for (std::size_t i = 1; i < 10; ++i) CHECK(ahead.take().number == i);
  CHECK(begun == 10);
}

TEST_CASE("none begins while those that wait hold the bytes that they may, and one alone may hold more") {
  std::atomic<std::size_t> begun{0};
  WorkAhead<Made> ahead(6, {1, 6, 100}, [&](std::size_t number) {
    ++begun;
    return Made{number, number == 2 ? std::size_t{500} : std::size_t{50}};
  });
  REQUIRE(attune::test::wait_until([&] { return begun == 2; }));  // 100 bytes
  give_it_a_while();
  CHECK(begun == 2);
  CHECK(ahead.take().number == 0);
  REQUIRE(attune::test::wait_until([&] { return begun == 3; }));  // 550 bytes
  give_it_a_while();
  CHECK(ahead.take().number == 1);
  give_it_a_while();
  CHECK(begun == 3);
  for (std::size_t i = 2; i < 6; ++i) CHECK(ahead.take().number == i);
}

TEST_CASE("whoever waits is told whether the next is there") {
  std::atomic<bool> may_end{false};
  WorkAhead<Made> ahead(1, {1, 1, 1}, [&](std::size_t number) {
    static_cast<void>(attune::test::wait_until([&] { return may_end.load(); }));
    return Made{number};
  });
  CHECK_FALSE(ahead.wait_for(1ms));
  may_end = true;
  CHECK(ahead.wait_for(1min));
  CHECK(ahead.take().number == 0);
}

TEST_CASE("what nobody takes is given up: those under way end, no other begins, on whatever thread") {
  constexpr std::size_t kThreads = 8;
  std::atomic<std::size_t> begun{0};
  std::atomic<bool> leaving{false};
  {
    WorkAhead<Made> ahead(1000, {kThreads, 1000, 1000}, [&](std::size_t number) {
      ++begun;
      static_cast<void>(attune::test::wait_until([&] { return leaving.load(); }));
      std::this_thread::sleep_for(500ms);  // all are asked to stop before the first has ended
      return Made{number};
    });
    REQUIRE(attune::test::wait_until([&] { return begun == kThreads; }));
    leaving = true;
  }
  CHECK(begun == kThreads);
}

TEST_CASE("threads that make give way to the one that takes") {
  const int ours = ::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()));
  std::atomic<int> theirs{0};
  WorkAhead<Made> ahead(1, {1, 1, 1}, [&](std::size_t number) {
    theirs = ::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()));
    return Made{number};
  });
  CHECK(ahead.take().number == 0);
  CHECK(theirs == std::min(ours + 5, 19));
  CHECK(::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid())) == ours);
}

// Sanitizers have a shadow memory that is larger than any limit.
/// While it lives this process gets hardly more memory than it has: enough for the stacks of four threads.
class LittleMemory {
 public:
  LittleMemory() {
    REQUIRE(::getrlimit(RLIMIT_AS, &before_) == 0);
    rlimit stack{};
    REQUIRE(::getrlimit(RLIMIT_STACK, &stack) == 0);
    constexpr rlim_t kStackWithoutLimit = rlim_t{2} << 20;  // of a thread, with this C library
    const rlim_t stacks = 4 * (stack.rlim_cur == RLIM_INFINITY ? kStackWithoutLimit : stack.rlim_cur) + (rlim_t{1} << 20);
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlimit little{pages * static_cast<std::size_t>(::getpagesize()) + stacks, before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_AS, &little) == 0);
  }
  ~LittleMemory() { static_cast<void>(::setrlimit(RLIMIT_AS, &before_)); }
  LittleMemory(const LittleMemory&) = delete;
  LittleMemory& operator=(const LittleMemory&) = delete;

 private:
  rlimit before_{};
};

std::ptrdiff_t threads_now() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
}

TEST_CASE("where the system refuses some of the threads the others make everything" * doctest::skip(attune::test::kSanitized)) {
  constexpr std::size_t kThreads = 64;
  std::atomic<bool> may_end{false};
  const auto make = [&](std::size_t number) {
    static_cast<void>(attune::test::wait_until([&] { return may_end.load(); }));
    return Made{number};
  };
  const LittleMemory little;
  WorkAhead<Made> ahead(2 * kThreads, {kThreads, 2 * kThreads, 1000}, make);
  const std::ptrdiff_t started = threads_now() - 1;  // but this one
  may_end = true;
  for (std::size_t i = 0; i < 2 * kThreads; ++i) CHECK(ahead.take().number == i);
  CHECK(started >= 1);
  CHECK(started < static_cast<std::ptrdiff_t>(kThreads));
}

TEST_CASE("nothing to make is no work") {
  CHECK_NOTHROW(WorkAhead<Made>(0, {4, 4, 4}, [](std::size_t number) { return Made{number}; }));
}

}  // namespace test_work_ahead
