#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "tuner/worker/windows.hpp"

namespace test_windows {

using namespace attune;
using measure::CachePolicy;

TEST_CASE("a cold batch can give every call a window of its own at any speed up to 6 TB/s; a hot one uses one window") {
  CHECK(worker::windows_wanted(CachePolicy::Hot, 1 << 20) == 1);
  CHECK(worker::windows_wanted(CachePolicy::Cold, 4096) == 1000);                      // 1 us a call at best: 1 ms
  CHECK(worker::windows_wanted(CachePolicy::Cold, std::size_t{24} << 20) >= 239);      // 4.2 us: 1 ms
  CHECK(worker::windows_wanted(CachePolicy::Cold, std::size_t{120} * 1000000) == 10);  // 20 us: 200 us
  CHECK(worker::windows_wanted(CachePolicy::Cold, std::size_t{4} << 30) == 1);
  CHECK(measure::batch_target_us(9.9) == 1000);
  CHECK(measure::batch_target_us(10) == 200);
}

TEST_CASE("groups of windows share what the device can hold, each with one at least and no more than a batch can use") {
  const std::size_t mib = std::size_t{1} << 20;
  const auto one = worker::window_groups(1, CachePolicy::Cold, 120 * 1000000, 8192 * mib);
  CHECK(one.windows() == 10);
  const auto five = worker::window_groups(5, CachePolicy::Cold, 120 * 1000000, 8192 * mib);
  CHECK(five.each == 10);
  CHECK(five.windows() == 50);
  CHECK(worker::window_groups(5, CachePolicy::Cold, 120 * 1000000, 3600 * std::size_t{1000000}).each == 6);
  CHECK(worker::window_groups(5, CachePolicy::Cold, 2048 * mib, 8192 * mib).each == 1);
  CHECK(worker::window_groups(5, CachePolicy::Hot, 4096, 8192 * mib).windows() == 5);
  CHECK(worker::window_groups(1, CachePolicy::Cold, 0, 0).each == 1);
}

TEST_CASE("a batch stays in its group, ends on the group's first window and meets no other window twice") {
  const worker::WindowGroups groups{5, 7};
  for (int group = 0; group < 5; ++group) {
    for (const int first : {0, 3, 999999}) {
      std::vector<int> met(static_cast<std::size_t>(groups.windows()), 0);
      for (int call = 0; call < 7; ++call) {
        const int window = groups.window_of(group, call, 7, first);
        CHECK(groups.group_of(window) == group);
        ++met[static_cast<std::size_t>(window)];
      }
      CHECK(*std::max_element(met.begin(), met.end()) == 1);
      CHECK(groups.window_of(group, 6, 7, first) == 7 * group);
    }
  }
  CHECK(worker::WindowGroups{5, 1}.window_of(3, 2, 9, 4) == 3);
  CHECK(worker::WindowGroups{}.window_of(0, 0, 1, 0) == 0);
}

}  // namespace test_windows
