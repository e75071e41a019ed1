#include "tuner/base/cpus.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <memory>

#include "attune/error.hpp"
#include "tuner/base/errno_text.hpp"

namespace attune::base {
namespace {

/// More do not help: a GPU measures some 300 configurations a second, and 16 workers compile as many.
constexpr int kMostCompileWorkers = 64;

struct FreeCpuSet {
  void operator()(cpu_set_t* set) const noexcept { CPU_FREE(set); }
};

}  // namespace

std::vector<int> available_cpus() {
  // The kernel refuses a set that is smaller than its own, whose size it does not tell.
  for (int count = CPU_SETSIZE; count <= CPU_SETSIZE * 64; count *= 2) {
    const std::unique_ptr<cpu_set_t, FreeCpuSet> set(CPU_ALLOC(count));
    const std::size_t bytes = CPU_ALLOC_SIZE(count);
    if (::sched_getaffinity(0, bytes, set.get()) != 0) {
      if (errno == EINVAL) continue;
      break;
    }
    std::vector<int> cpus;
    for (int cpu = 0; cpu < count; ++cpu) {
      if (CPU_ISSET_S(cpu, bytes, set.get())) cpus.push_back(cpu);
    }
    return cpus;
  }
  throw EnvironmentError("failed reading the processors of this process: " + errno_text("sched_getaffinity", errno));
}

CpuPlan plan_cpus(const std::vector<int>& available, int gpu_workers) {
  const int cores = static_cast<int>(available.size());
  CpuPlan plan;
  plan.compile_workers = std::clamp(cores - gpu_workers, 1, kMostCompileWorkers);
  plan.timing.resize(static_cast<std::size_t>(gpu_workers));
  if (gpu_workers == 0 || cores < gpu_workers + 1) return plan;
  plan.compiling = available;
  for (auto& set : plan.timing) {
    set.push_back(plan.compiling.back());
    plan.compiling.pop_back();
  }
  return plan;
}

void give_way() noexcept {
  constexpr int kNiceness = 5;  // at 19 a thread that is waited for starves beside anything else
  constexpr int kMost = 19;
  errno = 0;
  const int ours = ::getpriority(PRIO_PROCESS, 0);
  if (errno != 0) return;
  // Linux keeps a niceness for every thread.
  static_cast<void>(::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), std::min(ours + kNiceness, kMost)));
}

}  // namespace attune::base
