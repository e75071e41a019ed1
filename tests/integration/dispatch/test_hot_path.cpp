// What a launch does besides launching, once its sizes are known: nothing that waits.
#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "tests/integration/dispatch/dispatching.hpp"
#include "tests/integration/dispatch/watch.hpp"
#include "tests/support/figures.hpp"
#include "tests/support/skip.hpp"

namespace test_hot_path {

using namespace attune;
using namespace attune::test;

namespace {

constexpr std::size_t kThreads = 32;
constexpr std::size_t kSharedStreams = 4;
constexpr std::int64_t kSizes[] = {1, 17, 100, 256, 1000};

/// What all threads of the test share.
struct World : Dispatching {
  Runtime runtime{options};
  Kernel copy = copy_kernel(runtime);
  Kernel sum = sum_kernel(runtime);
  Plan sum_plan = sum.plan({256});
  std::vector<gpu::Stream> shared = std::vector<gpu::Stream>(kSharedStreams);
};

/// One thread: launches on streams of all and on one of its own, of every size, with and without scratch.
class Worker {
 public:
  Worker(World& world, std::size_t index) : world_(world), index_(index) {
    for (const auto n : kSizes) elements_.push_back(std::make_unique<Elements>(n, static_cast<std::int32_t>(index)));
  }
  /// Five launches of each size.
  void round() {
    const CUstream shared = world_.shared[index_ % kSharedStreams].get();
    for (const auto& elements : elements_) {
      launch(world_.copy, *elements, shared);
      launch(world_.copy, *elements, nullptr);
      launch(world_.sum, *elements, own_.get());
      bound_.launch({elements->n()}, {Argument::pointer(elements->in()), Argument::pointer(elements->out())});
    }
    for (std::size_t i = 0; i < elements_.size(); ++i) launch(world_.sum_plan, *elements_[3], address(workspace_), own_.get());
  }
  static constexpr std::size_t kLaunches = 5 * std::size(kSizes);

  /// Whether the last launches of both kernels wrote what they should, in both their orders.
  [[nodiscard]] bool right() const {
    bool all = true;
    for (const auto& elements : elements_) {
      elements->poison();
      launch(world_.copy, *elements, own_.get());
      all = all && elements->copied();
      elements->poison();
      launch(world_.sum, *elements, own_.get());
      all = all && elements->summed();
    }
    return all;
  }

 private:
  World& world_;
  std::size_t index_;
  std::vector<std::unique_ptr<Elements>> elements_;
  gpu::Stream own_;
  BoundKernel bound_ = world_.sum.on(own_.get());
  gpu::Buffer workspace_ = workspace_of(world_.sum_plan);
};

/// All threads meet here, without a lock.
void meet(std::atomic<std::size_t>& arrived) {
  ++arrived;
  while (arrived < kThreads) std::this_thread::yield();
}

}  // namespace

TEST_CASE("the watch sees a system call, an allocation and a lock") {
  if (const auto reason = Watch::unavailable_reason(); !reason.empty()) {
    return skip(reason);
  }
  std::thread([] {
    std::mutex mutex;
    int* volatile first = new int(0);  // a thread's first allocation maps memory
    delete first;
    std::unique_ptr<int> number;
    Watch::arm();
    const auto before = Watch::total();
    int pid = 0;
    {
      const Watch watch;
      pid = ::getppid();
    }
    {
      const Watch watch;
      number = std::make_unique<int>(pid);
    }
    {
      const Watch watch;
      const std::lock_guard lock(mutex);
    }
    const auto after = Watch::total();
    CHECK(*number == ::getppid());
    CHECK(after.system_calls - before.system_calls == 1);
    CHECK(after.allocations - before.allocations == 1);
    CHECK(after.locks - before.locks == 1);
  }).join();
}

TEST_CASE("32 threads that launch known sizes make no system call, allocate nothing and take no lock") {
  World world;
  const std::size_t rounds = full_campaign() ? 5000 : 100;
  std::vector<Watched> seen(kThreads);
  std::vector<char> right(kThreads, 0);
  std::atomic<std::size_t> warm{0}, done{0};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      world.context.make_current();
      Worker worker(world, i);
      worker.round();
      if (Watch::unavailable_reason().empty()) Watch::arm();
      meet(warm);
      for (std::size_t round = 0; round < rounds; ++round) {
        const Watch watch;
        worker.round();
      }
      seen[i] = Watch::total();
      meet(done);  // what comes now is not part of the claim, and would hold the others up
      right[i] = worker.right() ? 1 : 0;
    });
  }
  for (auto& thread : threads) thread.join();

  Watched all;
  for (const auto& thread : seen) {
    all.system_calls += thread.system_calls;
    all.allocations += thread.allocations;
    all.locks += thread.locks;
    if (thread.last_system_call >= 0) all.last_system_call = thread.last_system_call;
  }
  const std::size_t launches = kThreads * rounds * Worker::kLaunches;
  CHECK(right == std::vector<char>(kThreads, 1));
  CHECK(world.runtime.counters().plans_built == 2 * std::size(kSizes));
  CHECK(world.runtime.counters().launches ==
        launches + kThreads * (Worker::kLaunches + 2 * std::size(kSizes)));  // and the warm-up, and the last look
  if (const auto reason = Watch::unavailable_reason(); !reason.empty()) {
    return skip("system calls, allocations and locks are not counted: " + reason);
  }
  CAPTURE(all.last_system_call);
  CHECK(all.system_calls == 0);
  CHECK(all.allocations == 0);
  CHECK(all.locks == 0);
  record_figures(13, "hot_path",
                 {{"threads", kThreads},
                  {"streams", kThreads + kSharedStreams + 1},
                  {"sizes", std::size(kSizes)},
                  {"launches", launches},
                  {"system_calls", all.system_calls},
                  {"allocations", all.allocations},
                  {"locks", all.locks}});
}

}  // namespace test_hot_path
