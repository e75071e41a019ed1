// Programs and a template with setup and check: they pass what launches name, and neither is launched.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "attune/error.hpp"
#include "tests/integration/dispatch/dispatching.hpp"

namespace test_setup_and_check {

using namespace attune;
using namespace attune::test;

namespace {

constexpr std::int64_t kRows = 30, kColumns = 10;

/// On the fake driver device memory is host memory.
std::int32_t* numbers(const gpu::Buffer& buffer) { return reinterpret_cast<std::int32_t*>(buffer.address()); }

}  // namespace

TEST_CASE_FIXTURE(Dispatching, "a program passes what it prepared and outputs of launches, not what only setup and check have") {
  Runtime runtime(options);
  const Kernel kernel = runtime.kernel("packed", {});
  const gpu::Buffer packed(kRows * kColumns * sizeof(std::int32_t)), parts(4 * kRows * sizeof(std::int32_t));
  std::fill_n(numbers(packed), kRows * kColumns, 3);
  const auto arguments = {Argument::pointer(address(packed)), Argument::pointer(address(parts))};
  const auto right = [&](const auto& launch) {
    std::fill_n(numbers(parts), 4 * kRows, -1);
    launch();
    return std::all_of(numbers(parts), numbers(parts) + 2 * kRows,
                       [](std::int32_t sum) { return sum == 9; }) &&  // columns 0, 4, 8 and 1, 5, 9
           std::all_of(numbers(parts) + 2 * kRows, numbers(parts) + 4 * kRows, [](std::int32_t sum) { return sum == 6; });
  };
  CHECK(right([&] { kernel.launch({kRows, kColumns}, arguments, nullptr); }));
  const Plan plan = kernel.plan({kRows, kColumns});
  CHECK(plan.workspace_bytes() == 0);
  CHECK(right([&] { plan.launch(arguments, nullptr, nullptr); }));
  CHECK_THROWS_WITH_AS(kernel.launch({kRows, kColumns}, {Argument::pointer(address(packed))}, nullptr),
                       doctest::Contains("it takes 2 argument(s) (packed, parts), 1 were given"), UsageError);
}

}  // namespace test_setup_and_check
