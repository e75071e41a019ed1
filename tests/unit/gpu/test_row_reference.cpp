#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tuner/measure/row_reference.hpp"

namespace test_row_reference {

using namespace attune::measure;
using attune::spec::ElementType;

namespace {

bool has(const std::vector<std::int64_t>& positions, std::int64_t position) {
  return std::find(positions.begin(), positions.end(), position) != positions.end();
}

}  // namespace

TEST_CASE("elements are planted at both ends of the first, second, middle and last row, and at tile edges of the middle") {
  const auto positions = row_positions(101, 1000, 64);
  for (const std::int64_t row : {0, 1, 50, 100}) {
    CHECK(has(positions, row * 1000));
    CHECK(has(positions, row * 1000 + 999));
  }
  for (const std::int64_t column : {63, 64, 65, 447, 448, 449, 959, 960, 961}) CHECK(has(positions, 50000 + column));
  CHECK(positions.size() == 8 + 9);
}

TEST_CASE("positions lie in the matrix and are different, however small it is") {
  for (const std::int64_t rows : {0, 1, 2, 3}) {
    for (const std::int64_t columns : {0, 1, 2, 33}) {
      for (const std::int64_t tile : {0, 1, 32, 1000}) {
        const auto positions = row_positions(rows, columns, tile);
        CHECK(positions.empty() == (rows * columns == 0));
        for (std::size_t i = 0; i < positions.size(); ++i) {
          CHECK(positions[i] >= 0);
          CHECK(positions[i] < rows * columns);
          if (i > 0) CHECK(positions[i] > positions[i - 1]);
        }
      }
    }
  }
}

TEST_CASE("a planted element is the extreme, twice a floating factor or three times an integer") {
  for (const auto type : {ElementType::F16, ElementType::BF16, ElementType::F32, ElementType::F64}) {
    CHECK(planted_element(type, RowOperation::Minimum, 0) == lowest_finite_bits(type));
    CHECK(planted_element(type, RowOperation::Maximum, 0) == highest_finite_bits(type));
  }
  CHECK(to_double(ElementType::F32, planted_element(ElementType::F32, RowOperation::Product, 0x3f800000)) == 2);
  CHECK(to_double(ElementType::F16, planted_element(ElementType::F16, RowOperation::Product, 0xb800)) == -1);
  CHECK(to_double(ElementType::BF16, planted_element(ElementType::BF16, RowOperation::Product, 0xbf80)) == -2);
  CHECK(to_double(ElementType::F64, planted_element(ElementType::F64, RowOperation::Product, 0x4000000000000000)) == 4);
  CHECK(to_double(ElementType::I8, planted_element(ElementType::I8, RowOperation::Product, 0xfd)) == -9);
  CHECK(to_double(ElementType::U8, planted_element(ElementType::U8, RowOperation::Product, 3)) == 9);
}

TEST_CASE("a row of any length has about 256 factors other than 1 and -1 at most") {
  for (const std::int64_t columns : {std::int64_t{0}, std::int64_t{1}, std::int64_t{1000}, std::int64_t{1024}, std::int64_t{1} << 28}) {
    const double rarity = static_cast<double>(factor_rarity(columns));
    CHECK(rarity >= 4);
    CHECK(static_cast<double>(columns) / rarity <= 257);
  }
}

TEST_CASE("every operation has its word") {
  CHECK(row_operation("sum") == RowOperation::Sum);
  CHECK(row_operation("product") == RowOperation::Product);
  CHECK(row_operation("min") == RowOperation::Minimum);
  CHECK(row_operation("max") == RowOperation::Maximum);
  CHECK_FALSE(row_operation("mean").has_value());
}

}  // namespace test_row_reference
