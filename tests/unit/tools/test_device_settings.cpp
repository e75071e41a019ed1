#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "tools/device_list.hpp"
#include "tuner/base/cpu_claims.hpp"
#include "tuner/base/cpus.hpp"

namespace test_device_settings {

using namespace attune;

namespace {

bool holds(const std::vector<int>& cpus, int cpu) { return std::find(cpus.begin(), cpus.end(), cpu) != cpus.end(); }

}  // namespace

TEST_CASE("where other runs time on every processor nothing is pinned") {
  const auto available = base::available_cpus();
  const base::CpuClaims others(available, static_cast<int>(available.size()));  // whatever further runs have left
  for (const auto& settings : tools::device_settings({0, 1}, {})) {
    CHECK(settings.timing_cpus.empty());
    CHECK(settings.compile_cpus.empty());
    CHECK(settings.compile_workers == 1);
  }
}

TEST_CASE("what a run times on is claimed as long as the settings of one of its devices live, and differs from device to device") {
  const auto available = base::available_cpus();
  std::vector<int> ordinals{0};
  if (available.size() > 2) ordinals.push_back(1);
  std::vector<session::DeviceSettings> settings = tools::device_settings(ordinals, {});
  std::set<int> timing;
  for (const auto& one : settings) timing.insert(one.timing_cpus.begin(), one.timing_cpus.end());
  for (const int cpu : timing) {
    CHECK_FALSE(holds(base::CpuClaims(available, 0).not_of_others(), cpu));
    CHECK_FALSE(holds(settings.front().compile_cpus, cpu));
  }
  const bool pinned = !settings.front().timing_cpus.empty();
  CHECK(timing.size() == (pinned ? ordinals.size() : 0));
  if (settings.size() > 1) settings.pop_back();
  for (const int cpu : timing) CHECK_FALSE(holds(base::CpuClaims(available, 0).not_of_others(), cpu));
}

}  // namespace test_device_settings
