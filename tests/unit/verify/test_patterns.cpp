// What buffers are filled with by a pattern.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "attune/error.hpp"
#include "tuner/verify/patterns.hpp"

namespace test_patterns {

using namespace attune;
using spec::ElementType;
using spec::Fill;

namespace {

template <class T>
std::vector<T> filled(Fill fill, ElementType type, std::int64_t count, std::array<double, 2> bounds = {}, std::uint64_t seed = 1) {
  spec::ResolvedBuffer buffer;
  buffer.name = "x";
  buffer.type = type;
  buffer.count = count;
  buffer.bytes = count * spec::size_bytes(type);
  buffer.fill = fill;
  buffer.fill_bounds = bounds;
  const auto bytes = verify::pattern(buffer, seed);
  std::vector<T> values(static_cast<std::size_t>(count));
  REQUIRE(bytes.size() == values.size() * sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace

TEST_CASE("an index counts from 0, in whole and in floating numbers") {
  CHECK(filled<std::int32_t>(Fill::Index, ElementType::I32, 4) == std::vector<std::int32_t>{0, 1, 2, 3});
  CHECK(filled<double>(Fill::Index, ElementType::F64, 3) == std::vector<double>{0, 1, 2});
}

TEST_CASE("a permutation has every index once, in another order for another seed") {
  const auto values = filled<std::uint32_t>(Fill::Permutation, ElementType::U32, 1000);
  CHECK(std::set<std::uint32_t>(values.begin(), values.end()).size() == 1000);
  CHECK(*std::max_element(values.begin(), values.end()) == 999);
  CHECK_FALSE(std::is_sorted(values.begin(), values.end()));
  CHECK(values == filled<std::uint32_t>(Fill::Permutation, ElementType::U32, 1000));
  CHECK(values != filled<std::uint32_t>(Fill::Permutation, ElementType::U32, 1000, {}, 2));
}

TEST_CASE("a range begins at its first bound and ends below its second") {
  const auto whole = filled<std::int64_t>(Fill::Range, ElementType::I64, 10000, {-2, 3});
  CHECK(std::set<std::int64_t>(whole.begin(), whole.end()) == std::set<std::int64_t>{-2, -1, 0, 1, 2});
  const auto real = filled<float>(Fill::Range, ElementType::F32, 10000, {5, 6});
  CHECK(*std::min_element(real.begin(), real.end()) >= 5);
  CHECK(*std::max_element(real.begin(), real.end()) <= 6);
  CHECK(*std::max_element(real.begin(), real.end()) > 5.9);
}

TEST_CASE("offsets rise from 0 to their total") {
  const auto values = filled<std::int32_t>(Fill::Offsets, ElementType::I32, 101, {0, 100000});
  CHECK(values.front() == 0);
  CHECK(values.back() == 100000);
  CHECK(std::is_sorted(values.begin(), values.end()));
  CHECK(std::adjacent_find(values.begin(), values.end(), [](int a, int b) { return b - a > 2001; }) == values.end());
  CHECK(filled<std::int32_t>(Fill::Offsets, ElementType::I32, 1, {0, 7}) == std::vector<std::int32_t>{0});
}

TEST_CASE("a number is everywhere the same") {
  CHECK(filled<float>(Fill::Constant, ElementType::F32, 3, {0, 2.5}) == std::vector<float>(3, 2.5F));
  CHECK(filled<std::uint8_t>(Fill::Constant, ElementType::U8, 2, {0, 7}) == std::vector<std::uint8_t>{7, 7});
}

TEST_CASE("a value that the type does not hold is told, with the buffer") {
  CHECK_THROWS_WITH_AS((void)filled<std::int8_t>(Fill::Index, ElementType::I8, 200),
                       "failed filling buffer \"x\": its type i8 does not hold 128; choose a smaller problem, or another fill",
                       EnvironmentError);
}

}  // namespace test_patterns
