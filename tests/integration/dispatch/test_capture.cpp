// What may and may not happen while a stream is captured (docs/dispatch.md).
#include <doctest/doctest.h>

#include "attune/error.hpp"
#include "tests/integration/dispatch/dispatching.hpp"

namespace test_capture {

using namespace attune;
using namespace attune::test;

namespace {

gpu::Graph capture(const gpu::Stream& stream, const Kernel& kernel, const Elements& elements) {
  return gpu::Graph::capture(stream, [&] { launch(kernel, elements, stream.get()); });
}

gpu::Graph capture(const gpu::Stream& stream, const Plan& plan, const Elements& elements, const gpu::Buffer& workspace) {
  return gpu::Graph::capture(stream, [&] { launch(plan, elements, address(workspace), stream.get()); });
}

}  // namespace

TEST_CASE_FIXTURE(Dispatching, "a plan that is not prepared is refused under capture, and nothing is built or compiled") {
  Runtime runtime(options);
  const auto copy = copy_kernel(runtime);
  const Elements elements(1000);
  const gpu::Stream stream;
  CHECK_THROWS_WITH_AS(static_cast<void>(capture(stream, copy, elements)), doctest::Contains("the plan is not prepared"), UsageError);
  CHECK(runtime.counters().plans_built == 0);
  CHECK(runtime.counters().compiles == 0);
  CHECK(runtime.counters().database_reads == 0);
  CHECK(runtime.counters().launches == 0);
  copy.prepare({1000});
  const auto graph = capture(stream, copy, elements);
  graph.launch(stream);
  CHECK(elements.copied());
}

TEST_CASE_FIXTURE(Dispatching, "other sizes than those prepared are refused under capture") {
  Runtime runtime(options);
  const auto copy = copy_kernel(runtime);
  copy.prepare({1000});
  const Elements elements(1001);
  const gpu::Stream stream;
  CHECK_THROWS_WITH_AS(static_cast<void>(capture(stream, copy, elements)), doctest::Contains(R"({"T":"i32","faults":"none","n":1001})"),
                       UsageError);
}

TEST_CASE_FIXTURE(Dispatching, "scratch of the runtime's own is refused under capture, also when the plan was launched before") {
  Runtime runtime(options);
  const auto sum = sum_kernel(runtime);
  const Elements elements(500);
  const gpu::Stream stream;
  launch(sum, elements, stream.get());
  CHECK(elements.summed());
  CHECK_THROWS_WITH_AS(static_cast<void>(capture(stream, sum, elements)), doctest::Contains("workspace of your own"), UsageError);
  elements.poison();
  launch(sum, elements, stream.get());  // the refused capture left the stream's scratch as it was
  CHECK(elements.summed());
  CHECK(runtime.counters().launches == 2);
}

TEST_CASE_FIXTURE(Dispatching, "a plan with the caller's workspace is captured and replays right on other streams") {
  Runtime runtime(options);
  const Plan plan = sum_kernel(runtime).plan({500});
  REQUIRE(plan.workspace_bytes() > 0);
  const auto workspace = workspace_of(plan);
  const Elements elements(500);
  const gpu::Stream captured, replayed;
  const auto graph = capture(captured, plan, elements, workspace);
  for (const auto* stream : {&replayed, &captured, &replayed}) {
    elements.poison();
    graph.launch(*stream);
    CHECK(elements.summed());
  }
}

TEST_CASE_FIXTURE(Dispatching, "graphs with workspaces of their own and plain launches of the same sizes do not meet") {
  Runtime runtime(options);
  const auto sum = sum_kernel(runtime);
  const Plan plan = sum.plan({500});
  const auto first_workspace = workspace_of(plan), second_workspace = workspace_of(plan);
  const Elements first(500, 1), second(500, 2), third(500, 3);
  const gpu::Stream one, two;
  const auto first_graph = capture(one, plan, first, first_workspace);
  const auto second_graph = capture(two, plan, second, second_workspace);
  for (int round = 0; round < 3; ++round) {
    for (const auto* elements : {&first, &second, &third}) elements->poison();
    first_graph.launch(two);
    launch(sum, third, one.get());
    second_graph.launch(one);
    CHECK(first.summed());
    CHECK(second.summed());
    CHECK(third.summed());
  }
}

TEST_CASE_FIXTURE(Dispatching, "a launch without the workspace that its plan needs is refused before it is captured") {
  Runtime runtime(options);
  const Plan plan = sum_kernel(runtime).plan({500});
  const auto workspace = workspace_of(plan);
  const Elements elements(500);
  const gpu::Stream stream;
  auto* const misaligned = static_cast<std::byte*>(address(workspace)) + 8;
  const auto graph = gpu::Graph::capture(stream, [&] {
    CHECK_THROWS_AS(launch(plan, elements, nullptr, stream.get()), UsageError);
    CHECK_THROWS_AS(launch(plan, elements, misaligned, stream.get()), UsageError);
    CHECK_THROWS_AS(plan.launch({Argument::pointer(elements.in())}, address(workspace), stream.get()), UsageError);
  });
  graph.launch(stream);
  CHECK_FALSE(elements.summed());
  CHECK(runtime.counters().launches == 0);
}

}  // namespace test_capture
