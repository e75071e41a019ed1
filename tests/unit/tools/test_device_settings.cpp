#include <doctest/doctest.h>

#include <optional>
#include <vector>

#include "tests/support/imaginary_cpus.hpp"
#include "tools/device_list.hpp"
#include "tuner/base/cpu_claims.hpp"

namespace test_device_settings {

using namespace attune;
using Cpus = std::vector<int>;

namespace {

Cpus free_of(const Cpus& cpus) { return base::CpuClaims(cpus, 0).not_of_others(); }

}  // namespace

TEST_CASE("two commands time on different processors, which are free again when the settings of all devices are gone") {
  const Cpus cpus = test::imaginary_cpus(6);
  auto first = std::make_optional(tools::device_settings({0}, {}, cpus));
  auto second = std::make_optional(tools::device_settings({1, 2}, {}, cpus));
  CHECK(first->front().timing_cpus == Cpus{cpus[5]});
  CHECK(second->front().timing_cpus == Cpus{cpus[4]});
  CHECK(second->back().timing_cpus == Cpus{cpus[3]});
  CHECK(second->back().compile_cpus == Cpus{cpus[0], cpus[1], cpus[2]});
  CHECK(free_of(cpus) == Cpus{cpus[0], cpus[1], cpus[2]});
  first.reset();
  second->pop_back();
  CHECK(free_of(cpus) == Cpus{cpus[0], cpus[1], cpus[2], cpus[5]});
  second.reset();
  CHECK(free_of(cpus) == cpus);
}

TEST_CASE("where too few processors are left nothing is pinned, nothing is kept from others, and as many compile as alone") {
  const Cpus cpus = test::imaginary_cpus(4);
  const auto first = tools::device_settings({0, 1, 2}, {}, cpus);
  CHECK(first.front().timing_cpus == Cpus{cpus[3]});
  const auto second = tools::device_settings({3}, {}, cpus);
  CHECK(second.front().timing_cpus.empty());
  CHECK(second.front().compile_cpus.empty());
  CHECK(second.front().compile_workers == 3);
  CHECK(free_of(cpus) == Cpus{cpus[0]});
}

}  // namespace test_device_settings
