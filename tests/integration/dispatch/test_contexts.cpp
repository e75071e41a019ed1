// Devices, contexts, streams and threads of one process (docs/dispatch.md).
#include <doctest/doctest.h>

#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "attune/error.hpp"
#include "tests/integration/dispatch/dispatching.hpp"

namespace test_contexts {

using namespace attune;
using namespace attune::test;

namespace {

CUcontext current() {
  CUcontext context = nullptr;
  gpu::check(gpu::Driver::get().cuCtxGetCurrent(&context), "cuCtxGetCurrent", "reading the context");
  return context;
}

/// Every thread's checks, made after they have joined: doctest's are not for several threads at once.
template <class Work>
void in_threads(std::size_t count, Work&& work) {
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < count; ++i) threads.emplace_back([&work, i] { work(i); });
  for (auto& thread : threads) thread.join();
}

}  // namespace

TEST_CASE_FIXTURE(Dispatching, "one thread that switches between two devices gets each one's plan") {
  Runtime runtime(options);
  const auto copy = copy_kernel(runtime);
  const Elements here(100000);
  const gpu::Context other(1);
  const Elements there(100000);
  const gpu::Stream other_stream;
  for (int round = 0; round < 3; ++round) {
    context.make_current();
    here.poison();
    launch(copy, here, nullptr);
    CHECK(here.copied());
    other.make_current();
    there.poison();
    launch(copy, there, other_stream.get());
    CHECK(there.copied());
    CHECK(current() == other.get());
  }
  CHECK(runtime.counters().plans_built == 2);
  CHECK(runtime.counters().launches == 6);
  context.make_current();
}

TEST_CASE_FIXTURE(Dispatching, "a stream of another context than the current one, or a plan of one, is refused") {
  Runtime runtime(options);
  const auto copy = copy_kernel(runtime);
  const Elements elements(1000);
  const Plan plan = copy.plan({1000});
  const gpu::Context other(1);
  CHECK_THROWS_WITH_AS(launch(plan, elements, nullptr, nullptr), doctest::Contains("another CUDA context"), UsageError);
  CHECK(runtime.counters().launches == 0);
  context.make_current();
  launch(plan, elements, nullptr, nullptr);
  CHECK(elements.copied());
}

TEST_CASE_FIXTURE(Dispatching, "threads on two devices at once launch each in their own context") {
  Runtime runtime(options);
  const auto copy = copy_kernel(runtime), sum = sum_kernel(runtime);
  const gpu::Context other(1);
  constexpr std::size_t kThreads = 8;
  std::vector<int> wrong(kThreads, 0);
  in_threads(kThreads, [&](std::size_t i) {
    (i % 2 == 0 ? context : other).make_current();
    const Elements elements(1000 + static_cast<std::int64_t>(i / 4));
    const gpu::Stream stream;
    for (int round = 0; round < 50; ++round) {
      elements.poison();
      launch(copy, elements, stream.get());
      wrong[i] += elements.copied() ? 0 : 1;
      launch(sum, elements, stream.get());
      wrong[i] += elements.summed() ? 0 : 1;
    }
  });
  CHECK(wrong == std::vector<int>(kThreads, 0));
  CHECK(runtime.counters().plans_built == 8);  // two kernels, two sizes, two contexts
  CHECK(runtime.counters().launches == kThreads * 100);
  context.make_current();
}

TEST_CASE_FIXTURE(Dispatching, "streams that run at once have scratch of their own, and so have threads on one stream") {
  Runtime runtime(options);
  const auto sum = sum_kernel(runtime);
  const gpu::Stream shared;
  constexpr std::size_t kThreads = 8;
  std::vector<int> wrong(kThreads, 0);
  in_threads(kThreads, [&](std::size_t i) {
    context.make_current();
    const Elements small(100 + static_cast<std::int64_t>(i)), large(20000);
    const gpu::Stream own;
    for (int round = 0; round < 50; ++round) {
      for (const auto* stream : {&own, &shared}) {
        for (const auto* elements : {&small, &large}) {
          elements->poison();
          launch(sum, *elements, stream->get());
          wrong[i] += elements->summed() ? 0 : 1;
        }
      }
    }
  });
  CHECK(wrong == std::vector<int>(kThreads, 0));
  CHECK(runtime.counters().launches == kThreads * 200);
}

TEST_CASE_FIXTURE(Dispatching, "a launch that is refused for its arguments leaves scratch that the next launch can use") {
  Runtime runtime(options);
  const auto sum = sum_kernel(runtime);
  const Elements elements(64);
  const gpu::Stream stream;
  launch(sum, elements, stream.get());
  CHECK_THROWS_AS(sum.launch({64}, {Argument::pointer(nullptr), Argument::pointer(elements.out())}, stream.get()), UsageError);
  elements.poison();
  launch(sum, elements, stream.get());
  CHECK(elements.summed());
}

TEST_CASE_FIXTURE(Dispatching, "threads that miss the same sizes at once build one plan and compile once") {
  const TempFolder empty_cache;
  ::setenv("XDG_CACHE_HOME", empty_cache.path().c_str(), 1);
  Runtime runtime(options);
  const auto copy = copy_kernel(runtime);
  constexpr std::size_t kThreads = 8;
  std::vector<int> right(kThreads, 0);
  in_threads(kThreads, [&](std::size_t i) {
    context.make_current();
    const Elements elements(1000);
    launch(copy, elements, nullptr);
    right[i] = elements.copied() ? 1 : 0;
  });
  CHECK(right == std::vector<int>(kThreads, 1));
  CHECK(runtime.counters().plans_built == 1);
  CHECK(runtime.counters().compiles == 1);
}

TEST_CASE_FIXTURE(Dispatching, "a miss runs the default at once: nothing is measured, and no second size compiles") {
  Runtime runtime(options);
  const auto copy = copy_kernel(runtime);
  for (const std::int64_t n : {1000, 2000, 3000, 1000, 2000}) {
    const Elements elements(n);
    launch(copy, elements, nullptr);
    CHECK(elements.copied());
    CHECK(copy.explain({n}).tier == Tier::Default);
  }
  const auto counters = runtime.counters();
  CHECK(counters.launches == 5);
  CHECK(counters.plans_built == 3);
  CHECK(counters.database_reads == 3);
  CHECK(counters.compiles <= 1);
}

TEST_CASE_FIXTURE(Dispatching, "the runtime's end leaves the current context and the memory of every device as they were") {
  const gpu::Context other(1);
  const Elements elements(1000);
  std::size_t before = 0, after = 0, total = 0;
  gpu::check(gpu::Driver::get().cuMemGetInfo(&before, &total), "cuMemGetInfo", "counting");
  {
    Runtime runtime(options);
    launch(sum_kernel(runtime), elements, nullptr);
    context.make_current();
    const Elements here(1000);
    launch(sum_kernel(runtime), here, nullptr);
  }
  CHECK(current() == context.get());
  other.make_current();
  gpu::check(gpu::Driver::get().cuMemGetInfo(&after, &total), "cuMemGetInfo", "counting");
  CHECK(before == after);
  context.make_current();
}

}  // namespace test_contexts
