#include <doctest/doctest.h>

#include <initializer_list>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "tests/support/imaginary_cpus.hpp"
#include "tuner/base/cpu_claims.hpp"
#include "tuner/base/cpus.hpp"
#include "tuner/base/process.hpp"

namespace test_cpu_claims {

using namespace attune::base;
using attune::test::imaginary_cpus;

namespace {

std::vector<int> without(std::vector<int> cpus, std::initializer_list<std::size_t> places) {
  for (auto place = std::rbegin(places); place != std::rend(places); ++place)
    cpus.erase(cpus.begin() + static_cast<std::ptrdiff_t>(*place));
  return cpus;
}

}  // namespace

TEST_CASE("two commands side by side time on different processors, and the later one does not compile where the earlier one times") {
  const auto cpus = imaginary_cpus(6);
  const CpuClaims first(cpus, 1), second(cpus, 2);
  CHECK(first.not_of_others() == cpus);
  CHECK(second.not_of_others() == without(cpus, {5}));
  CHECK(plan_cpus(first.not_of_others(), 1).timing == std::vector<std::vector<int>>{{cpus[5]}});
  const CpuPlan plan = plan_cpus(second.not_of_others(), 2);
  CHECK(plan.timing == std::vector<std::vector<int>>{{cpus[4]}, {cpus[3]}});
  CHECK(plan.compiling == std::vector<int>{cpus[0], cpus[1], cpus[2]});
  CHECK(CpuClaims(cpus, 0).not_of_others() == without(cpus, {3, 4, 5}));
}

TEST_CASE("a claim ends with its owner, and goes where its owner is moved") {
  const auto cpus = imaginary_cpus(3);
  std::optional<CpuClaims> first(std::in_place, cpus, 1);
  std::optional<CpuClaims> moved(std::move(*first));
  first.reset();
  CHECK(CpuClaims(cpus, 1).not_of_others() == without(cpus, {2}));
  moved.reset();
  CHECK(CpuClaims(cpus, 1).not_of_others() == cpus);
}

TEST_CASE("where others have all processors nothing is pinned") {
  const auto cpus = imaginary_cpus(2);
  const CpuClaims first(cpus, 2), second(cpus, 1);
  CHECK(second.not_of_others().empty());
  const CpuPlan plan = plan_cpus(second.not_of_others(), 1);
  CHECK(plan.timing == std::vector<std::vector<int>>{{}});
  CHECK(plan.compiling.empty());
  CHECK(plan.compile_workers == 1);
}

TEST_CASE("who only asks does not claim") {
  const auto cpus = imaginary_cpus(2);
  const CpuClaims asks(cpus, 0);
  CHECK(CpuClaims(cpus, 2).not_of_others() == cpus);
}

TEST_CASE("a worker does not keep the claim of the run that started it") {
  const auto cpus = imaginary_cpus(2);
  std::optional<CpuClaims> run(std::in_place, cpus, 1);
  const WorkerProcess worker(ATTUNE_TEST_WORKER, {"sleep"});
  run.reset();
  CHECK(CpuClaims(cpus, 1).not_of_others() == cpus);
}

}  // namespace test_cpu_claims
