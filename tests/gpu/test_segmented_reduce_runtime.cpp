// The typed front end of segmented_reduce on the device, against a plain loop on the host: values that tuning never puts
// in, NaN and infinities, and rows of them.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/gpu/runtime_fixture.hpp"

namespace test_segmented_reduce_runtime {

using namespace attune;
using namespace attune::test;

namespace {

template <class T>
void to_device(CUdeviceptr target, const std::vector<T>& values) {
  if (values.empty()) return;
  gpu::check(gpu::Driver::get().cuMemcpyHtoDAsync(target, values.data(), values.size() * sizeof(T), nullptr), "cuMemcpyHtoDAsync",
             "writing");
  gpu::check(gpu::Driver::get().cuCtxSynchronize(), "cuCtxSynchronize", "waiting");
}

template <class T>
std::vector<T> from_device(CUdeviceptr source, std::int64_t count) {
  std::vector<T> values(static_cast<std::size_t>(count));
  gpu::check(gpu::Driver::get().cuCtxSynchronize(), "cuCtxSynchronize", "waiting");
  if (count == 0) return values;
  gpu::check(gpu::Driver::get().cuMemcpyDtoHAsync(values.data(), source, values.size() * sizeof(T), nullptr), "cuMemcpyDtoHAsync",
             "reading");
  gpu::check(gpu::Driver::get().cuCtxSynchronize(), "cuCtxSynchronize", "waiting");
  return values;
}

/// What the front end makes of a matrix that starts `offset` elements behind an aligned address.
template <class T>
std::vector<typename SegmentedReduce<T>::Result> reduced(Runtime& runtime, Op op, const std::vector<T>& in, std::int64_t rows,
                                                         std::int64_t columns, std::size_t offset) {
  using Result = typename SegmentedReduce<T>::Result;
  const gpu::Buffer in_memory((in.size() + offset + 1) * sizeof(T));
  const gpu::Buffer out_memory(static_cast<std::size_t>(rows + 1) * sizeof(Result));
  to_device(in_memory.address() + offset * sizeof(T), in);
  runtime.segmented_reduce<T>(op)(reinterpret_cast<const T*>(in_memory.address()) + offset, rows, columns,
                                  reinterpret_cast<Result*>(out_memory.address()), nullptr);
  return from_device<Result>(out_memory.address(), rows);
}

template <class T>
T extreme_of(const T* row, std::int64_t columns, Op op) {
  const T infinity = std::numeric_limits<T>::infinity();
  T x = op == Op::Min ? infinity : -infinity;
  for (std::int64_t i = 0; i < columns; ++i)
    if (op == Op::Min ? row[i] < x : row[i] > x) x = row[i];
  return x;
}

struct Shape {
  std::int64_t rows, columns;
};
constexpr Shape kShapes[] = {{1, 1}, {7, 31}, {65537, 3}, {65537, 33}, {300, 1000}, {7, 1023}, {3, 300007}};

}  // namespace

TEST_CASE_FIXTURE(RuntimeFixture, "sums and products of rows are right at any alignment, integers modulo 2^32") {
  Runtime runtime;
  for (const auto& [rows, columns] : kShapes) {
    for (const std::size_t offset : {0, 1, 3}) {
      CAPTURE(rows);
      CAPTURE(columns);
      CAPTURE(offset);
      std::vector<float> floats;
      std::vector<std::uint32_t> odd;
      std::vector<std::int8_t> bytes;
      for (std::int64_t i = 0; i < rows * columns; ++i) {
        floats.push_back(static_cast<float>(i * 7 % 11 - 4));
        odd.push_back(static_cast<std::uint32_t>(i * 2654435761) | 1u);
        bytes.push_back(static_cast<std::int8_t>(i * 37 % 256 - 128));
      }
      const auto sums = reduced(runtime, Op::Sum, floats, rows, columns, offset);
      const auto products = reduced(runtime, Op::Product, odd, rows, columns, offset);
      const auto byte_sums = reduced(runtime, Op::Sum, bytes, rows, columns, offset);
      std::int64_t wrong = 0;
      for (std::int64_t row = 0; row < rows; ++row) {
        double sum = 0;
        std::uint32_t product = 1;
        std::int32_t byte_sum = 0;
        for (std::int64_t i = row * columns; i < (row + 1) * columns; ++i) {
          sum += floats[static_cast<std::size_t>(i)];
          product *= odd[static_cast<std::size_t>(i)];
          byte_sum += bytes[static_cast<std::size_t>(i)];
        }
        const auto at = static_cast<std::size_t>(row);
        wrong += sums[at] != static_cast<float>(sum) || products[at] != product || byte_sums[at] != byte_sum;
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE_FIXTURE(RuntimeFixture, "extremes of rows pass over NaN and find infinities; rows of NaN give the identity") {
  Runtime runtime;
  for (const auto& [rows, columns] : kShapes) {
    std::vector<double> in;
    for (std::int64_t i = 0; i < rows * columns; ++i) {
      const bool all_nan = i / columns % 3 == 2;
      in.push_back(all_nan || i % 5 == 0 ? std::nan("") : static_cast<double>(i * 7919 % 1000) - 500);
      if (i % 97 == 1 && !all_nan) in.back() = i % 2 == 0 ? HUGE_VAL : -HUGE_VAL;
    }
    const std::vector<float> narrow(in.begin(), in.end());
    for (const Op op : {Op::Min, Op::Max}) {
      CAPTURE(rows);
      CAPTURE(columns);
      const auto wide_extremes = reduced(runtime, op, in, rows, columns, 1);
      const auto narrow_extremes = reduced(runtime, op, narrow, rows, columns, 1);
      std::int64_t wrong = 0;
      for (std::int64_t row = 0; row < rows; ++row) {
        const double expected = extreme_of(in.data() + row * columns, columns, op);
        const auto at = static_cast<std::size_t>(row);
        wrong += wide_extremes[at] != expected || narrow_extremes[at] != static_cast<float>(expected);
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE_FIXTURE(RuntimeFixture, "rows without elements give the identity, and no rows write nothing") {
  Runtime runtime;
  using Bytes = std::vector<std::uint8_t>;
  const std::vector<std::pair<Op, std::uint32_t>> identities = {{Op::Sum, 0}, {Op::Product, 1}, {Op::Min, 255}, {Op::Max, 0}};
  for (const auto& [op, identity] : identities) {
    CHECK(reduced(runtime, op, Bytes{}, 3, 0, 0) == std::vector<std::uint32_t>(3, identity));
    CHECK(reduced(runtime, op, Bytes{}, 0, 5, 0).empty());
  }
  CHECK(reduced(runtime, Op::Min, std::vector<float>{}, 1, 0, 0).front() == HUGE_VALF);
}

TEST_CASE_FIXTURE(RuntimeFixture, "a row that several blocks share leaves its workspace zero, and replays right from a graph") {
  Runtime runtime;
  constexpr std::int64_t kColumns = 1 << 20;
  const std::vector<float> ones(2 * kColumns, 1.0f);
  const gpu::Buffer in(ones.size() * sizeof(float)), out(2 * sizeof(float));
  to_device(in.address(), ones);
  const Plan plan = runtime.segmented_reduce<float>(Op::Sum).plan(2, kColumns);
  REQUIRE(plan.workspace_bytes() > 0);
  const auto workspace = workspace_of(plan);
  const gpu::Stream stream;
  const auto graph = gpu::Graph::capture(stream, [&] {
    plan.launch(
        {Argument::pointer(reinterpret_cast<const float*>(in.address())), Argument::pointer(reinterpret_cast<float*>(out.address()))},
        reinterpret_cast<void*>(workspace.address()), stream.get());
  });
  for (int replay = 0; replay < 5; ++replay) {
    to_device(out.address(), std::vector<float>{-1, -1});
    graph.launch(stream);
    CHECK(from_device<float>(out.address(), 2) == std::vector<float>(2, static_cast<float>(kColumns)));
  }
  for (const unsigned char byte : from_device<unsigned char>(workspace.address(), static_cast<std::int64_t>(workspace.bytes())))
    if (byte != 0) FAIL("the workspace is not zero");
}

}  // namespace test_segmented_reduce_runtime
