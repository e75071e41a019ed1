// Which device gets which problem, without devices.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tuner/session/fleet/fleet.hpp"
#include "tuner/session/fleet/work_estimate.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace test_fleet {

using attune::ExitCode;
using attune::session::Fleet;

TEST_CASE("equal devices share the problems, the largest first, each tuned once") {
  Fleet fleet({"h200", "h200"}, {1, 8, 4, 2});
  CHECK(fleet.group_count() == 1);
  CHECK(fleet.next(0) == 1);
  CHECK(fleet.next(1) == 2);
  fleet.finished(1);
  CHECK(fleet.next(1) == 3);
  fleet.finished(0);
  CHECK(fleet.next(0) == 0);
  CHECK_FALSE(fleet.done());
  fleet.finished(0);
  fleet.finished(1);
  CHECK(fleet.done());
  CHECK_FALSE(fleet.next(0).has_value());
  CHECK(fleet.failures().empty());
}

TEST_CASE("problems of equal work keep their order") {
  Fleet fleet({"a"}, {5, 5, 5});
  for (const std::size_t expected : {0, 1, 2}) {
    CHECK(fleet.next(0) == expected);
    fleet.finished(0);
  }
}

TEST_CASE("devices that differ tune every problem each") {
  Fleet fleet({"h200", "l4", "h200"}, {1, 2});
  REQUIRE(fleet.group_count() == 2);
  CHECK(fleet.group_of(0) == fleet.group_of(2));
  CHECK(fleet.group_of(0) != fleet.group_of(1));
  std::map<std::size_t, std::multiset<std::size_t>> tuned;
  while (!fleet.done()) {
    for (std::size_t device = 0; device < 3; ++device) {
      if (const auto problem = fleet.next(device)) {
        tuned[fleet.group_of(device)].insert(*problem);
        fleet.finished(device);
      }
    }
  }
  CHECK(tuned[0] == std::multiset<std::size_t>{0, 1});
  CHECK(tuned[1] == std::multiset<std::size_t>{0, 1});
}

TEST_CASE("a busy device is given nothing more") {
  Fleet fleet({"a"}, {1, 1});
  REQUIRE(fleet.next(0).has_value());
  CHECK_FALSE(fleet.has_work(0));
  CHECK_FALSE(fleet.next(0).has_value());
}

TEST_CASE("a problem whose process died is tried once more, by whichever device is free, and then given up") {
  Fleet fleet({"a", "a"}, {3, 2, 1});
  CHECK(fleet.next(0) == 0);
  CHECK(fleet.next(1) == 1);
  fleet.lost(0, "killed");
  CHECK(fleet.failures().empty());
  fleet.finished(1);
  CHECK(fleet.next(1) == 0);
  fleet.lost(1, "killed again");
  REQUIRE(fleet.failures().size() == 1);
  CHECK(fleet.failures()[0].problem == 0);
  CHECK(fleet.failures()[0].why == "killed again");
  CHECK(fleet.failures()[0].exit_code == ExitCode::Environment);
  CHECK(fleet.next(0) == 2);  // the others go on
  fleet.finished(0);
  CHECK(fleet.done());
}

TEST_CASE("an idle device that dies blames no problem") {
  Fleet fleet({"a"}, {1});
  fleet.lost(0, "killed");
  CHECK(fleet.next(0) == 0);
  fleet.lost(0, "killed");
  CHECK(fleet.failures().empty());
}

TEST_CASE("a group loses a problem on its own devices only") {
  Fleet fleet({"a", "b"}, {1});
  for (const std::size_t device : {0, 1}) {
    REQUIRE(fleet.next(device) == 0);
    fleet.lost(device, "killed");
    CHECK(fleet.failures().empty());
  }
}

TEST_CASE("a failure that would come again is not tried again") {
  Fleet fleet({"a"}, {1});
  REQUIRE(fleet.next(0) == 0);
  fleet.failed(0, "needs 99 bytes", ExitCode::Spec);
  REQUIRE(fleet.failures().size() == 1);
  CHECK(fleet.failures()[0].exit_code == ExitCode::Spec);
  CHECK(fleet.done());
}

TEST_CASE("a device that cannot be used any more leaves its group's queue to the others") {
  Fleet fleet({"a", "a"}, {2, 1});
  REQUIRE(fleet.next(0) == 0);
  fleet.lost(0, "killed");
  fleet.retire(0, "the device is gone");
  CHECK_FALSE(fleet.has_work(0));
  CHECK(fleet.next(1) == 0);
  fleet.finished(1);
  CHECK(fleet.next(1) == 1);
  fleet.finished(1);
  CHECK(fleet.done());
  CHECK(fleet.failures().empty());
}

TEST_CASE("problems that no device is left for are given up, each by name") {
  Fleet fleet({"a", "b"}, {2, 1});
  REQUIRE(fleet.next(0) == 0);
  fleet.lost(0, "killed");
  fleet.retire(0, "the device is gone");
  std::set<std::size_t> given_up;
  for (const auto& failure : fleet.failures()) {
    CHECK(failure.group == fleet.group_of(0));
    CHECK(failure.why == "the device is gone");
    given_up.insert(failure.problem);
  }
  CHECK(given_up == std::set<std::size_t>{0, 1});
  CHECK(fleet.has_work(1));
}

TEST_CASE("a time budget is divided by the turns that a device still has") {
  Fleet fleet({"a", "a", "a"}, {1, 1, 1, 1, 1, 1, 1});
  CHECK(fleet.turns_left(0) == 3);  // 7 problems on 3 devices
  REQUIRE(fleet.next(0).has_value());
  CHECK(fleet.turns_left(0) == 3);
  REQUIRE(fleet.next(1).has_value());
  CHECK(fleet.turns_left(1) == 2);  // 6 not begun before it
  fleet.retire(2, "gone");
  fleet.finished(1);
  CHECK(fleet.turns_left(1) == 3);  // 5 on 2 devices
}

TEST_CASE("short calls, whose batches are long, are expected to take longer than middling ones, and of those the larger ones") {
  const auto kernel = attune::spec::TemplateLibrary().find("reduce");
  const auto device = attune::spec::DeviceInfo::of_architecture("sm_90");
  const auto work = [&](std::int64_t n) {
    return attune::session::estimated_work(kernel, {{{"T", "f32"}, {"op", "sum"}}, {{"n", n}}}, device);
  };
  constexpr std::int64_t kShort = 1 << 20, kMiddling = 12000000;
  CHECK(work(kShort) > work(kMiddling));
  CHECK(work(kMiddling + 3000000) > work(kMiddling));  // a batch of either is as long; verifying is not
  CHECK(work(std::int64_t{1} << 30) > work(kShort));
}

}  // namespace test_fleet
