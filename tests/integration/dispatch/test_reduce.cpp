// The typed front ends of reductions on the fake driver, which runs their kernels as sums of f32.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "attune/error.hpp"
#include "tests/integration/dispatch/dispatching.hpp"

namespace test_reduce {

using namespace attune;
using namespace attune::test;

namespace {

/// Device memory of one launch, which on the fake driver is host memory: in[i] = i % 5.
struct Numbers {
  explicit Numbers(std::int64_t count)
      : n(count), in_memory(static_cast<std::size_t>(count + 1) * sizeof(float)), out_memory(sizeof(float)) {
    for (std::int64_t i = 0; i < n; ++i) in()[i] = static_cast<float>(i % 5);
    poison();
  }
  void poison() const { *out() = -1.0f; }
  [[nodiscard]] float* in() const { return reinterpret_cast<float*>(in_memory.address()); }
  [[nodiscard]] float* out() const { return reinterpret_cast<float*>(out_memory.address()); }
  [[nodiscard]] bool summed() const {
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += i % 5;
    return *out() == static_cast<float>(sum);
  }

  std::int64_t n;
  gpu::Buffer in_memory, out_memory;
};

/// What is told of a launch whose code does not compile, and the log alone.
struct Told {
  std::string what, log;
};
Told compile_error(Runtime& runtime, const Reduction& reduction) {
  const Numbers numbers(1000);
  try {
    runtime.reduce<float>(reduction)(numbers.in(), numbers.n, numbers.out(), nullptr);
  } catch (const CompileError& error) {
    CHECK(*numbers.out() == -1.0f);
    return {error.what(), error.log()};
  }
  return {};
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE_FIXTURE(Dispatching, "reduce and reproducible_reduce find n, the input and the result among their arguments") {
  Runtime runtime(options);
  const auto sum = runtime.reduce<float>(Op::Sum);
  const auto same_sum = runtime.reproducible_reduce<float>(Op::Sum);
  for (const std::int64_t n : {0, 1, 33, 100003, 3000000}) {
    CAPTURE(n);
    const Numbers numbers(n);
    sum(numbers.in(), n, numbers.out(), nullptr);
    CHECK(numbers.summed());
    numbers.poison();
    same_sum(numbers.in(), n, numbers.out(), nullptr);
    CHECK(numbers.summed());
  }
  CHECK(runtime.counters().launches == 10);
}

TEST_CASE_FIXTURE(Dispatching, "dot needs both inputs, unless there is no element, and nothing is launched without") {
  Runtime runtime(options);
  const Numbers numbers(1000);
  const auto dot = runtime.dot<float>();
  CHECK_THROWS_WITH_AS(dot(numbers.in(), nullptr, numbers.n, numbers.out(), nullptr), doctest::Contains("buffer 'other' is null"),
                       UsageError);
  CHECK_THROWS_WITH_AS(runtime.reproducible_dot<float>()(nullptr, numbers.in(), numbers.n, numbers.out(), nullptr),
                       doctest::Contains("buffer 'in' is null"), UsageError);
  CHECK(*numbers.out() == -1.0f);
  CHECK(runtime.counters().launches == 0);
  dot(nullptr, nullptr, 0, numbers.out(), nullptr);
  CHECK(*numbers.out() == 0.0f);
}

TEST_CASE_FIXTURE(Dispatching, "a plan takes what arguments() gives, and is captured with the caller's workspace") {
  Runtime runtime(options);
  const Numbers numbers(3000000);
  const auto sum = runtime.reduce<float>({.finish = Finish::ScaleBias});
  const Plan plan = sum.plan(numbers.n);
  REQUIRE(plan.workspace_bytes() > 0);
  const auto workspace = workspace_of(plan);
  const gpu::Stream stream;
  CHECK_THROWS_WITH_AS(static_cast<void>(gpu::Graph::capture(stream, [&] { sum(numbers.in(), numbers.n, numbers.out(), stream.get()); })),
                       doctest::Contains("workspace of your own"), UsageError);
  const auto graph = gpu::Graph::capture(stream, [&] {
    plan.launch(Reduce<float>::arguments(numbers.in(), numbers.out(), {.scale = 2, .bias = 1}), address(workspace), stream.get());
  });
  for (int replay = 0; replay < 2; ++replay) {
    numbers.poison();
    graph.launch(stream);
    CHECK(numbers.summed());
  }
  CHECK_THROWS_WITH_AS(plan.launch({Argument::pointer(numbers.in()), Argument::pointer(numbers.out())}, address(workspace), stream.get()),
                       doctest::Contains("it takes 6 argument(s) (in, other, out, shift, scale, bias), 2 were given"), UsageError);
}

TEST_CASE_FIXTURE(Dispatching,
                  "an expression that does not compile is told with the caller's text at the first launch, and nothing is launched") {
  Runtime runtime(options);
  const Told combine = compile_error(runtime, {.op = CustomOp{"a + nonesuch(b)", "A(0)"}});
  CHECK(contains(combine.what, "failed compiling"));
  CHECK(contains(combine.log, "combine(1): error: identifier \"nonesuch\" is undefined"));
  CHECK(contains(combine.log, "a + nonesuch(b)"));
  const Told start = compile_error(runtime, {.op = CustomOp{"a + b", "A(0) +"}});
  CHECK(contains(start.log, "start("));
  const Told map = compile_error(runtime, {.transform = CustomTransform{"x.real"}});
  CHECK(contains(map.log, "map(1): error"));
  CHECK(contains(map.log, "x.real"));
  CHECK(runtime.counters().launches == 0);
  // One that compiles is dispatched by the same Runtime.
  const Numbers numbers(1000);
  runtime.reduce<float>({.op = CustomOp{"a > b ? a : b", "A(-1000)"}, .transform = CustomTransform{"fabsf(x)"}})(numbers.in(), numbers.n,
                                                                                                                 numbers.out(), nullptr);
  CHECK(runtime.counters().launches == 1);
}

}  // namespace test_reduce
