#include <doctest/doctest.h>
#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <string>

#include "attune/error.hpp"
#include "tests/support/sanitized.hpp"
#include "tuner/base/cpus.hpp"
#include "tuner/base/process.hpp"

namespace test_cpus {

using namespace attune::base;

namespace {

constexpr std::chrono::milliseconds kForEver{-1};

/// One line of /proc/<pid>/status, without its name.
std::string status_of(int pid, const std::string& name) {
  std::ifstream in(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(name + ":\t")) return line.substr(name.size() + 2);
  }
  return "";
}

std::vector<int> numbered(int count) {
  std::vector<int> cpus(static_cast<std::size_t>(count));
  std::iota(cpus.begin(), cpus.end(), 0);
  return cpus;
}

}  // namespace

TEST_CASE("the processors of this process are those that the kernel lists") {
  const std::vector<int> cpus = available_cpus();
  REQUIRE_FALSE(cpus.empty());
  CHECK(std::is_sorted(cpus.begin(), cpus.end()));
  const std::string list = status_of(::getpid(), "Cpus_allowed_list");
  CHECK(list.starts_with(std::to_string(cpus.front())));
  CHECK(list.ends_with(std::to_string(cpus.back())));
}

TEST_CASE("every GPU worker gets a core of its own, and nothing compiles there") {
  const CpuPlan plan = plan_cpus({0, 1, 2, 3, 8, 9}, 2);
  CHECK(plan.timing == std::vector<std::vector<int>>{{9}, {8}});
  CHECK(plan.compiling == std::vector<int>{0, 1, 2, 3});
  CHECK(plan.compile_workers == 4);
}

TEST_CASE("two cores are enough for one GPU worker and one compile worker") {
  const CpuPlan plan = plan_cpus({4, 5}, 1);
  CHECK(plan.timing == std::vector<std::vector<int>>{{5}});
  CHECK(plan.compiling == std::vector<int>{4});
  CHECK(plan.compile_workers == 1);
}

TEST_CASE("without a core left for compiling nothing is pinned") {
  for (const int gpu_workers : {1, 2, 8}) {
    const CpuPlan plan = plan_cpus(numbered(std::min(gpu_workers, 2)), gpu_workers);
    CHECK(plan.timing == std::vector<std::vector<int>>(static_cast<std::size_t>(gpu_workers)));
    CHECK(plan.compiling.empty());
    CHECK(plan.compile_workers == 1);
  }
}

TEST_CASE("without a GPU worker every core compiles, up to 64 workers") {
  CHECK(plan_cpus(numbered(16), 0).compile_workers == 16);
  CHECK(plan_cpus(numbered(16), 0).compiling.empty());
  CHECK(plan_cpus(numbered(256), 8).compile_workers == 64);
  CHECK(plan_cpus(numbered(256), 8).compiling.size() == 248);
}

TEST_CASE("a worker runs on the processors that it was given and no other") {
  for (const int cpu : available_cpus()) {
    WorkerLimits limits;
    limits.cpus = {cpu};
    const WorkerProcess worker(ATTUNE_TEST_WORKER, {"sleep"}, limits);
    CHECK(status_of(worker.pid(), "Cpus_allowed_list") == std::to_string(cpu));
  }
  const WorkerProcess free(ATTUNE_TEST_WORKER, {"sleep"});
  CHECK(status_of(free.pid(), "Cpus_allowed_list") == status_of(::getpid(), "Cpus_allowed_list"));
}

TEST_CASE("a worker is as nice as it was asked to be, on top of its parent") {
  WorkerLimits limits;
  limits.nice = 3;
  const WorkerProcess worker(ATTUNE_TEST_WORKER, {"sleep"}, limits);
  const int ours = ::getpriority(PRIO_PROCESS, 0);
  CHECK(::getpriority(PRIO_PROCESS, static_cast<id_t>(worker.pid())) == std::min(ours + 3, 19));
}

TEST_CASE("a worker gets no more address space than its limit" * doctest::skip(attune::test::kSanitized)) {
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
  WorkerLimits limits;
  limits.memory_bytes = kGiB;
  WorkerProcess worker(ATTUNE_TEST_WORKER, {"allocate"}, limits);
  worker.channel().send(kGiB / 2);
  CHECK(worker.channel().receive(kForEver).value() == "granted");
  worker.channel().send(kGiB);
  CHECK(worker.channel().receive(kForEver).value() == "refused");
}

TEST_CASE("a processor that is not there is an error that names the call, and leaves no process") {
  WorkerLimits limits;
  limits.cpus = {100000};
  CHECK_THROWS_WITH_AS(WorkerProcess(ATTUNE_TEST_WORKER, {"sleep"}, limits), doctest::Contains("sched_setaffinity returned EINVAL"),
                       attune::EnvironmentError);
}

}  // namespace test_cpus
