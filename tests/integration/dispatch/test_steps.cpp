// Plans of several steps, with every kind of workspace: on every way to launch, also after a driver has refused one midway.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>

#include "attune/error.hpp"
#include "tests/integration/dispatch/dispatching.hpp"

namespace test_steps {

using namespace attune;
using namespace attune::test;

namespace {

/// The fewest elements whose second kernel the driver refuses.
constexpr std::int64_t kRefused = 1001;

struct Steps : Dispatching {
  /// Whether a launch puts out what the template `steps` computes, and sets what it does not.
  static bool right(const std::function<void(const Elements&, std::int32_t factor)>& launch, std::int64_t n, std::int32_t factor) {
    const Elements elements(n);
    launch(elements, factor);
    std::array<std::int64_t, 2> out{};
    std::memcpy(out.data(), elements.out(), sizeof out);
    const std::int64_t sum = std::accumulate(elements.in(), elements.in() + n, std::int64_t{0});
    return out[0] == sum * factor + 3 * n + n + 5 && out[1] == 0x1111111111111111;
  }

  Runtime runtime{options};
  Kernel kernel = runtime.kernel("steps", {});
  gpu::Stream stream;
};

std::array<Argument, 3> arguments(const Elements& elements, std::int32_t factor) {
  return {Argument::pointer(elements.in()), Argument::pointer(elements.out()), Argument::scalar(factor)};
}

}  // namespace

TEST_CASE_FIXTURE(Steps, "buffers, scalars and constants reach each step by every way to launch") {
  auto bound = kernel.on(stream.get());
  for (const std::int64_t n : {5, 700, 6}) {  // out holds n + 2 elements of four bytes
    for (const std::int32_t factor : {1, -7}) {
      CAPTURE(n);
      CAPTURE(factor);
      const Plan plan = kernel.plan({n});
      const gpu::Buffer workspace = workspace_of(plan);
      CHECK(right([&](const auto& elements, auto f) { kernel.launch(&n, 1, arguments(elements, f).data(), 3, stream.get()); }, n, factor));
      CHECK(right([&](const auto& elements, auto f) { bound.launch(&n, 1, arguments(elements, f).data(), 3); }, n, factor));
      CHECK(right([&](const auto& elements, auto f) { plan.launch(arguments(elements, f).data(), 3, address(workspace), stream.get()); }, n,
                  factor));
    }
  }
}

TEST_CASE_FIXTURE(Steps, "a launch that the driver refuses midway leaves scratch that the next launch can use") {
  auto bound = kernel.on(stream.get());
  const Elements refused(kRefused);
  const auto by_kernel = [&](const Elements& elements, std::int32_t factor) {
    const std::int64_t n = elements.n();
    kernel.launch(&n, 1, arguments(elements, factor).data(), 3, stream.get());
  };
  const auto by_bound = [&](const Elements& elements, std::int32_t factor) {
    const std::int64_t n = elements.n();
    bound.launch(&n, 1, arguments(elements, factor).data(), 3);
  };
  for (int round = 0; round < 2; ++round) {
    CHECK_THROWS_WITH_AS(by_kernel(refused, 1), doctest::Contains("launching kernel 'add_up'"), CudaError);
    CHECK(right(by_kernel, 500, 2));
    CHECK_THROWS_WITH_AS(by_bound(refused, 1), doctest::Contains("launching kernel 'add_up'"), CudaError);
    CHECK(right(by_bound, 500, 2));
    CHECK(runtime.counters().launches == 4 * (static_cast<std::uint64_t>(round) + 1));
  }
}

}  // namespace test_steps
