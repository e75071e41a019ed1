#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "attune/runtime.hpp"
#include "db/database.hpp"
#include "tests/gpu/runtime_fixture.hpp"
#include "tests/support/best_row.hpp"
#include "tuner/runtime/code_store.hpp"

namespace test_runtime {

using namespace attune;
using namespace attune::test;

namespace {

using Fixture = RuntimeFixture;

}  // namespace

TEST_CASE_FIXTURE(Fixture, "sums are right from no element to many, launched twice") {
  Runtime runtime;
  const auto sum = runtime.reduce<float>(Op::Sum);
  for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1}, std::int64_t{3}, kLarge, kLarge + 1}) {
    CAPTURE(n);
    const Input input(n);
    for (int launch = 0; launch < 2; ++launch) {
      input.poison();
      sum(input.in(), n, input.out(), nullptr);
      CHECK(input.result() == input.expected());
    }
  }
  CHECK(runtime.counters().launches == 10);
  CHECK(runtime.counters().plans_built == 5);
  CHECK(runtime.counters().compiles == 2);  // sizes never enter the source: one block's of few elements, and a grid's of many
}

TEST_CASE_FIXTURE(Fixture, "inputs that start between vectors are summed right") {
  Runtime runtime;
  const auto sum = runtime.reduce<float>(Op::Sum);
  for (const std::int64_t offset : {1, 2, 3}) {
    CAPTURE(offset);
    const Input input(kLarge, offset);
    sum(input.in(), kLarge, input.out(), nullptr);
    CHECK(input.result() == input.expected());
  }
}

TEST_CASE_FIXTURE(Fixture, "a second runtime finds the code of the first and compiles nothing") {
  const Input input(kLarge);
  {
    Runtime runtime;
    const auto sum = runtime.reduce<float>(Op::Sum);
    sum(input.in(), kLarge, input.out(), nullptr);
    CHECK(runtime.counters().compiles == 1);
    CHECK(sum.explain(kLarge).compiled);
    CHECK(sum.explain(kLarge).cubin_source == "compiled");
  }
  Runtime runtime;
  const auto sum = runtime.reduce<float>(Op::Sum);
  CHECK(sum.explain(kLarge).cubin_source == "cache");
  sum(input.in(), kLarge, input.out(), nullptr);
  CHECK(input.result() == input.expected());
  CHECK(runtime.counters().compiles == 0);
  CHECK_FALSE(sum.explain(kLarge).compiled);
}

TEST_CASE_FIXTURE(Fixture, "a tuned result with its stored cubin is dispatched without compiling or cache") {
  const auto device = gpu::read_device(0);
  const auto kernel = spec::TemplateLibrary().find("reduce");
  const spec::Problem problem{{{"T", "f32"}, {"op", "sum"}}, {{"n", kLarge}}};
  const auto configuration = spec::default_configuration(kernel);
  const auto request = runtime::make_code_request(kernel, problem, configuration, device);
  const auto code = runtime::CodeStore(folder / "elsewhere").compile(request);
  {
    auto database = db::Database::open(folder / "user.db", db::OpenMode::ReadWrite);
    auto row = best_row(kernel, problem, device, spec::to_text(kernel, configuration), request.source_key);
    row.cubin_key = "0123456789abcdef0123456789abcdef";
    database.put(device_row(device));
    database.put(row);
    database.put_cubin(row.cubin_key, code.cubin, row.detail_json);
  }
  Runtime runtime;
  const auto sum = runtime.reduce<float>(Op::Sum);
  sum.prepare();
  CHECK(runtime.counters().plans_built == 1);
  CHECK(sum.explain(kLarge).tier == Tier::ExactSize);
  CHECK(sum.explain(kLarge).cubin_source == "database");
  const Input input(kLarge);
  sum(input.in(), kLarge, input.out(), nullptr);
  CHECK(input.result() == input.expected());
  CHECK(runtime.counters().compiles == 0);
  CHECK(runtime.counters().plans_built == 1);
}

TEST_CASE_FIXTURE(Fixture, "an unprepared plan is refused under capture, and so is one that needs scratch of the runtime's") {
  Runtime runtime;
  const auto sum = runtime.reduce<float>(Op::Sum);
  const Input input(kLarge);
  const gpu::Stream stream;
  const auto capture = [&] { static_cast<void>(gpu::Graph::capture(stream, [&] { sum(input.in(), kLarge, input.out(), stream.get()); })); };
  CHECK_THROWS_WITH_AS(capture(), doctest::Contains("the plan is not prepared"), UsageError);
  CHECK(runtime.counters().plans_built == 0);
  sum(input.in(), kLarge, input.out(), stream.get());
  CHECK_THROWS_WITH_AS(capture(), doctest::Contains("workspace of your own"), UsageError);
  CHECK(input.result() == input.expected());
}

TEST_CASE_FIXTURE(Fixture, "a prepared plan that needs no scratch is captured by a plain launch") {
  Runtime runtime;
  const auto sum = runtime.reduce<float>(Op::Sum);
  const Input input(3);
  REQUIRE(sum.plan(3).workspace_bytes() == 0);
  const gpu::Stream stream;
  const auto graph = gpu::Graph::capture(stream, [&] { sum(input.in(), 3, input.out(), stream.get()); });
  graph.launch(stream);
  CHECK(input.result() == input.expected());
}

TEST_CASE_FIXTURE(Fixture, "a plan with a workspace of the caller's is captured and replays right") {
  Runtime runtime;
  const auto sum = runtime.reduce<float>(Op::Sum);
  const Input input(kLarge);
  const Plan plan = sum.plan(kLarge);
  REQUIRE(plan.workspace_bytes() > 0);
  const auto workspace = Fixture::workspace_of(plan);
  const gpu::Stream stream;
  auto* const scratch = reinterpret_cast<void*>(workspace.address());
  const auto graph = gpu::Graph::capture(stream, [&] { plan.launch(sum.arguments(input.in(), input.out()), scratch, stream.get()); });
  for (int replay = 0; replay < 5; ++replay) {
    input.poison();
    graph.launch(stream);
    CHECK(input.result() == input.expected());
  }
}

TEST_CASE_FIXTURE(Fixture, "a plan refuses a missing, a misaligned workspace and wrong arguments before it launches") {
  Runtime runtime;
  const auto sum = runtime.reduce<float>(Op::Sum);
  const Input input(kLarge);
  const Plan plan = sum.plan(kLarge);
  const auto arguments = sum.arguments(input.in(), input.out());
  CHECK_THROWS_WITH_AS(plan.launch(arguments, nullptr, nullptr), doctest::Contains("none was given"), UsageError);
  CHECK_THROWS_AS(plan.launch(arguments, reinterpret_cast<void*>(input.out() + 1), nullptr), UsageError);
  CHECK_THROWS_AS(plan.launch({arguments[0]}, nullptr, nullptr), UsageError);
  CHECK_THROWS_AS(sum(nullptr, kLarge, input.out(), nullptr), UsageError);
  CHECK(runtime.counters().launches == 0);
}

TEST_CASE_FIXTURE(Fixture, "two streams reduce at the same time without disturbing each other") {
  Runtime runtime;
  const auto sum = runtime.reduce<float>(Op::Sum);
  const Input first(kLarge), second(3 * kLarge);
  const gpu::Stream one, two;
  for (int round = 0; round < 200; ++round) {
    sum(first.in(), first.n(), first.out(), one.get());
    sum(second.in(), second.n(), second.out(), two.get());
  }
  CHECK(first.result() == first.expected());
  CHECK(second.result() == second.expected());
}

TEST_CASE_FIXTURE(Fixture, "plans of different sizes share a stream's scratch, whichever order they come in") {
  Runtime runtime;
  const auto sum = runtime.reduce<float>(Op::Sum);
  const Input small(20011), large(3 * kLarge);
  for (int round = 0; round < 20; ++round) {
    for (const Input* input : {&small, &large, &small}) {
      input->poison();
      sum(input->in(), input->n(), input->out(), nullptr);
      CHECK(input->result() == input->expected());
    }
  }
}

TEST_CASE_FIXTURE(Fixture, "threads that build and launch on one stream at once all get right sums") {
  Runtime runtime;
  const auto sum = runtime.reduce<float>(Op::Sum);
  const gpu::Stream stream;
  constexpr std::size_t kThreads = 8;
  std::vector<std::unique_ptr<Input>> inputs;
  for (std::size_t i = 0; i < kThreads; ++i) inputs.push_back(std::make_unique<Input>(kLarge + static_cast<std::int64_t>(i)));
  std::vector<std::thread> threads;
  for (const auto& input : inputs) {
    threads.emplace_back([&, target = input.get()] {
      context.make_current();
      for (int round = 0; round < 100; ++round) sum(target->in(), target->n(), target->out(), stream.get());
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& input : inputs) CHECK(input->result() == input->expected());
  CHECK(runtime.counters().launches == kThreads * 100);
  CHECK(runtime.counters().plans_built == kThreads);
  CHECK(runtime.counters().compiles == 1);
}

TEST_CASE_FIXTURE(Fixture, "a thread without a current context is told so") {
  Runtime runtime;
  const auto sum = runtime.reduce<float>(Op::Sum);
  std::string message;
  std::thread([&] {
    try {
      sum(nullptr, 1, nullptr, nullptr);
    } catch (const UsageError& error) {
      message = error.what();
    }
  }).join();
  CHECK(message.find("no CUDA context is current") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "the runtime leaves the current context as it was") {
  {
    Runtime runtime;
    const Input input(kLarge);
    runtime.reduce<float>(Op::Sum)(input.in(), kLarge, input.out(), nullptr);
  }
  CUcontext current = nullptr;
  gpu::check(gpu::Driver::get().cuCtxGetCurrent(&current), "cuCtxGetCurrent", "reading the context");
  CHECK(current == context.get());
}

}  // namespace test_runtime
