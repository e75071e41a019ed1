// The typed front end of segmented_reduce on the fake driver, which runs its kernels as sums of f32.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "tests/integration/dispatch/dispatching.hpp"

namespace test_segmented_reduce {

using namespace attune;
using namespace attune::test;

namespace {

/// Device memory of one launch, which on the fake driver is host memory: element c of row r is r + c % 3.
struct Rows {
  Rows(std::int64_t row_count, std::int64_t column_count)
      : rows(row_count),
        columns(column_count),
        in_memory(static_cast<std::size_t>(rows * columns) * sizeof(float) + 4),
        out_memory(static_cast<std::size_t>(rows) * sizeof(float) + 4) {
    for (std::int64_t i = 0; i < rows * columns; ++i) in()[i] = static_cast<float>(i / columns + i % columns % 3);
    std::fill_n(out(), rows, -1.0f);
  }
  [[nodiscard]] float* in() const { return reinterpret_cast<float*>(in_memory.address()); }
  [[nodiscard]] float* out() const { return reinterpret_cast<float*>(out_memory.address()); }
  /// Whether every row is right: the columns are a multiple of three, and sum up to 0 + 1 + 2 for every three.
  [[nodiscard]] bool right() const {
    for (std::int64_t row = 0; row < rows; ++row)
      if (out()[row] != static_cast<float>(row * columns + columns)) return false;
    return true;
  }

  std::int64_t rows, columns;
  gpu::Buffer in_memory, out_memory;
};

}  // namespace

TEST_CASE_FIXTURE(Dispatching, "segmented_reduce puts the sum of every row where it was asked for, whatever the shape") {
  Runtime runtime(options);
  const auto sum = runtime.segmented_reduce<float>(Op::Sum);
  struct Case {
    std::int64_t rows, columns;
  };
  for (const auto& [rows, columns] : {Case{4, 3}, Case{70000, 3}, Case{9, 999}, Case{2, 300000}, Case{5, 0}, Case{0, 6}}) {
    CAPTURE(rows);
    CAPTURE(columns);
    const Rows data(rows, columns);
    sum(data.in(), rows, columns, data.out(), nullptr);
    CHECK(data.right());
  }
  CHECK(runtime.counters().launches == 6);
}

TEST_CASE_FIXTURE(Dispatching, "a plan of segmented_reduce takes in and out, and the caller's workspace where rows are shared") {
  Runtime runtime(options);
  const Rows data(2, 300000);
  const Plan plan = runtime.segmented_reduce<float>(Op::Sum).plan(data.rows, data.columns);
  REQUIRE(plan.workspace_bytes() > 0);
  const auto workspace = workspace_of(plan);
  plan.launch({Argument::pointer(data.in()), Argument::pointer(data.out())}, address(workspace), nullptr);
  CHECK(data.right());
}

}  // namespace test_segmented_reduce
