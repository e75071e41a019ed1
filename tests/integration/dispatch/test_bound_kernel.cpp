// A kernel bound to a stream: right whatever is launched beside it, and refused where Kernel is.
#include <doctest/doctest.h>

#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "attune/error.hpp"
#include "tests/integration/dispatch/dispatching.hpp"

namespace test_bound_kernel {

using namespace attune;
using namespace attune::test;

namespace {

void launch(BoundKernel& kernel, const Elements& elements) {
  kernel.launch({elements.n()}, {Argument::pointer(elements.in()), Argument::pointer(elements.out())});
}

/// `sum` notices scratch that is shared or dirty.
bool sums(BoundKernel& kernel, const Elements& elements) {
  elements.poison();
  launch(kernel, elements);
  return elements.summed();
}

}  // namespace

TEST_CASE_FIXTURE(Dispatching,
                  "sizes may change from launch to launch, its scratch grows with them, and Kernel may launch on its stream between") {
  Runtime runtime(options);
  const auto sum = sum_kernel(runtime);
  const gpu::Stream stream;
  auto bound = sum.on(stream.get());
  auto twin = sum.on(stream.get());
  auto copy = copy_kernel(runtime).on(stream.get());
  for (const std::int64_t n : {100, 5, 100'000, 100'000, 7, 2'000'000, 100}) {
    CAPTURE(n);
    const Elements elements(n);
    CHECK(sums(bound, elements));
    elements.poison();
    test::launch(sum, elements, stream.get());
    CHECK(elements.summed());
    CHECK(sums(twin, elements));
    CHECK(sums(bound, elements));
    elements.poison();
    launch(copy, elements);
    CHECK(elements.copied());
  }
  CHECK(runtime.counters().launches == 7 * 5);
  CHECK(runtime.counters().plans_built == 5 + 5);
}

TEST_CASE_FIXTURE(Dispatching, "one that is destroyed or moved leaves its scratch clean for the next") {
  Runtime runtime(options);
  const auto sum = sum_kernel(runtime);
  const gpu::Stream stream;
  const Elements elements(5000);
  std::optional<BoundKernel> first(sum.on(stream.get()));
  CHECK(sums(*first, elements));
  BoundKernel second = *std::move(first);
  first.reset();
  CHECK(sums(second, elements));
  second = sum.on(stream.get());
  CHECK(sums(second, elements));
}

TEST_CASE_FIXTURE(Dispatching, "threads with a bound kernel each, on one stream and on streams of their own, sum right") {
  constexpr std::size_t kThreads = 8;
  Runtime runtime(options);
  const auto sum = sum_kernel(runtime);
  const gpu::Stream shared;
  std::vector<char> right(kThreads, 0);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      context.make_current();
      const gpu::Stream own;
      auto bound = sum.on(i % 2 == 0 ? shared.get() : own.get());
      const Elements small(300, static_cast<std::int32_t>(i)), large(70'000, static_cast<std::int32_t>(i));
      bool all = true;
      for (int round = 0; round < 50; ++round) all = all && sums(bound, small) && sums(bound, large);
      right[i] = all ? 1 : 0;
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(right == std::vector<char>(kThreads, 1));
}

TEST_CASE_FIXTURE(Dispatching, "what Kernel refuses it refuses: another context, a capture with scratch or unknown sizes, wrong counts") {
  Runtime runtime(options);
  const auto sum = sum_kernel(runtime), copy = copy_kernel(runtime);
  const gpu::Stream stream;
  const Elements elements(500);
  auto bound_sum = sum.on(stream.get()), bound_copy = copy.on(stream.get());
  CHECK(sums(bound_sum, elements));
  CHECK_THROWS_WITH_AS(static_cast<void>(gpu::Graph::capture(stream, [&] { launch(bound_sum, elements); })),
                       doctest::Contains("bytes of scratch"), UsageError);
  CHECK_THROWS_WITH_AS(static_cast<void>(gpu::Graph::capture(stream, [&] { launch(bound_copy, elements); })),
                       doctest::Contains("the plan is not prepared"), UsageError);
  launch(bound_copy, elements);
  elements.poison();
  const auto graph = gpu::Graph::capture(stream, [&] { launch(bound_copy, elements); });
  graph.launch(stream);
  CHECK(elements.copied());
  CHECK(sums(bound_sum, elements));
  CHECK_THROWS_AS(bound_sum.launch({500}, {Argument::pointer(elements.in())}), UsageError);
  CHECK(sums(bound_sum, elements));
  const std::vector<Argument> both{Argument::pointer(elements.in()), Argument::pointer(elements.out())};
  auto never_launched = sum.on(stream.get());
  for (auto* const any : {&bound_sum, &never_launched}) {
    CHECK_THROWS_WITH_AS(any->launch(nullptr, 0, both.data(), both.size()), doctest::Contains("it has 1 size(s) (n), 0 were given"),
                         UsageError);
    CHECK_THROWS_AS(any->launch({500, 500}, {both[0], both[1]}), UsageError);
  }
  {
    const gpu::Context other(1);
    CHECK_THROWS_WITH_AS(launch(bound_sum, elements), doctest::Contains("another CUDA context"), UsageError);
    CHECK_THROWS_WITH_AS(bound_sum.launch(nullptr, 0, both.data(), both.size()), doctest::Contains("0 were given"), UsageError);
  }
  context.make_current();
  CHECK(sums(bound_sum, elements));
}

}  // namespace test_bound_kernel
