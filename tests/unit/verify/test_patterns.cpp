// What buffers are filled with by a pattern.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "attune/error.hpp"
#include "tuner/verify/patterns.hpp"

namespace test_patterns {

using namespace attune;
using spec::ElementType;
using spec::Fill;

namespace {

template <class T>
std::vector<T> filled(Fill fill, ElementType type, std::int64_t count, std::vector<spec::Value> bounds = {}, std::uint64_t seed = 1) {
  spec::ResolvedBuffer buffer;
  buffer.name = "x";
  buffer.type = type;
  buffer.count = count;
  buffer.bytes = count * spec::size_bytes(type);
  buffer.fill = fill;
  buffer.fill_bounds = std::move(bounds);
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
  const auto whole = filled<std::int64_t>(Fill::Range, ElementType::I64, 10000, {std::int64_t{-2}, std::int64_t{3}});
  CHECK(std::set<std::int64_t>(whole.begin(), whole.end()) == std::set<std::int64_t>{-2, -1, 0, 1, 2});
  const auto real = filled<float>(Fill::Range, ElementType::F32, 10000, {5.0, 6.0});
  CHECK(*std::min_element(real.begin(), real.end()) >= 5);
  CHECK(*std::max_element(real.begin(), real.end()) <= 6);
  CHECK(*std::max_element(real.begin(), real.end()) > 5.9);
}

TEST_CASE("a range of whole numbers may be all that 64 bits have, and every bound is exact") {
  constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min(), kHighest = std::numeric_limits<std::int64_t>::max();
  const auto all = filled<std::int64_t>(Fill::Range, ElementType::I64, 1000, {kLowest, kHighest});
  CHECK(*std::min_element(all.begin(), all.end()) < kLowest / 2);
  CHECK(*std::max_element(all.begin(), all.end()) > kHighest / 2);
  const std::int64_t odd = (std::int64_t{1} << 53) + 1;
  CHECK(filled<std::uint64_t>(Fill::Range, ElementType::U64, 3, {odd, odd + 1}) ==
        std::vector<std::uint64_t>(3, static_cast<std::uint64_t>(odd)));
  const auto negative = filled<std::int8_t>(Fill::Range, ElementType::I8, 1000, {std::int64_t{-4}, std::int64_t{-1}});
  CHECK(std::set<std::int8_t>(negative.begin(), negative.end()) == std::set<std::int8_t>{-4, -3, -2});
}

TEST_CASE("a range of floating numbers may be wider than the largest of them") {
  const double most = std::numeric_limits<double>::max();
  for (const double value : filled<double>(Fill::Range, ElementType::F64, 1000, {-most, most})) CHECK(std::isfinite(value));
}

TEST_CASE("offsets rise from 0 to their total") {
  const auto values = filled<std::int32_t>(Fill::Offsets, ElementType::I32, 101, {std::int64_t{100000}});
  CHECK(values.front() == 0);
  CHECK(values.back() == 100000);
  CHECK(std::is_sorted(values.begin(), values.end()));
  CHECK(std::adjacent_find(values.begin(), values.end(), [](int a, int b) { return b - a > 2001; }) == values.end());
  CHECK(filled<std::int32_t>(Fill::Offsets, ElementType::I32, 1, {std::int64_t{7}}) == std::vector<std::int32_t>{0});
}

TEST_CASE("a number is everywhere the same") {
  const std::int64_t odd = (std::int64_t{1} << 53) + 1;
  CHECK(filled<std::int64_t>(Fill::Constant, ElementType::I64, 2, {odd}) == std::vector<std::int64_t>(2, odd));
  CHECK(filled<float>(Fill::Constant, ElementType::F32, 2, {std::int64_t{-2}}) == std::vector<float>(2, -2.0F));
  CHECK(filled<float>(Fill::Constant, ElementType::F32, 3, {2.5}) == std::vector<float>(3, 2.5F));
  CHECK(filled<std::uint8_t>(Fill::Constant, ElementType::U8, 2, {std::int64_t{7}}) == std::vector<std::uint8_t>{7, 7});
}

TEST_CASE("a value that the type does not hold is told, with the buffer") {
  CHECK_THROWS_WITH_AS((void)filled<std::int8_t>(Fill::Index, ElementType::I8, 200),
                       "failed filling buffer \"x\": its type i8 does not hold 128; its fill was not resolved", Error);
}

}  // namespace test_patterns
