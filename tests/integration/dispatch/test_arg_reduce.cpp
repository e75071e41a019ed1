// The typed front end of argreduce on the fake driver, which runs its kernels as the greatest of f32.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/integration/dispatch/dispatching.hpp"

namespace test_arg_reduce {

using namespace attune;
using namespace attune::test;

namespace {

/// Device memory of one launch; on the fake driver it is host memory.
struct Search {
  explicit Search(const std::vector<float>& elements)
      : n(static_cast<std::int64_t>(elements.size())), in_memory(elements.size() * sizeof(float) + 4), value_memory(4), index_memory(8) {
    std::copy(elements.begin(), elements.end(), in());
  }
  [[nodiscard]] float* in() const { return reinterpret_cast<float*>(in_memory.address()); }
  [[nodiscard]] float* value() const { return reinterpret_cast<float*>(value_memory.address()); }
  [[nodiscard]] std::int64_t* index() const { return reinterpret_cast<std::int64_t*>(index_memory.address()); }

  std::int64_t n;
  gpu::Buffer in_memory, value_memory, index_memory;
};

constexpr float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE_FIXTURE(Dispatching, "arg_reduce puts the value and its index where they were asked for") {
  Runtime runtime(options);
  const auto arg_max = runtime.arg_reduce<float>(ArgOp::Max);
  struct Case {
    std::vector<float> in;
    float value;
    std::int64_t index;
  };
  for (const Case& one :
       {Case{{1, 5, 2, 5}, 5, 1}, Case{{}, -kInfinity, -1}, Case{{NAN, -kInfinity}, -kInfinity, 1}, Case{{NAN}, -kInfinity, -1}}) {
    const Search search(one.in);
    arg_max(search.in(), search.n, search.value(), search.index(), nullptr);
    CHECK(*search.value() == one.value);
    CHECK(*search.index() == one.index);
  }
  CHECK(runtime.counters().launches == 4);
}

TEST_CASE_FIXTURE(Dispatching, "a plan of arg_reduce takes in, value and index, and the caller's workspace") {
  Runtime runtime(options);
  std::vector<float> elements(100000, 0.0f);
  elements[77777] = 3;
  const Search search(elements);
  const Plan plan = runtime.arg_reduce<float>(ArgOp::Max).plan(search.n);
  const auto workspace = workspace_of(plan);
  plan.launch({Argument::pointer(search.in()), Argument::pointer(search.value()), Argument::pointer(search.index())}, address(workspace),
              nullptr);
  CHECK(*search.value() == 3);
  CHECK(*search.index() == 77777);
}

}  // namespace test_arg_reduce
