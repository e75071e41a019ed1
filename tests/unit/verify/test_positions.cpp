#include <doctest/doctest.h>

#include <algorithm>

#include "tuner/verify/positions.hpp"

namespace test_positions {

using namespace attune::verify;

namespace {

bool has(const std::vector<std::int64_t>& positions, std::int64_t position) {
  return std::find(positions.begin(), positions.end(), position) != positions.end();
}

}  // namespace

TEST_CASE("elements are planted at both ends of the first, second, middle and last row, and at tile edges of the middle") {
  const auto positions = planted_positions(101, 1000, 64);
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
        const auto positions = planted_positions(rows, columns, tile);
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

TEST_CASE("of one row both ends are planted, both sides of tile edges, or of powers of two where there are no tiles") {
  const auto tiles = planted_positions(100000, 512);
  for (const std::int64_t position : {0, 511, 512, 513, 49663, 49664, 49665, 99839, 99840, 99841, 99998, 99999})
    CHECK(has(tiles, position));
  const auto unknown = planted_positions(100000, 0);
  for (const std::int64_t position : {0, 31, 32, 1023, 1024, 65535, 65536, 99998, 99999}) CHECK(has(unknown, position));
  CHECK(unknown.size() <= 16);
  CHECK(planted_positions(0, 8).empty());
  CHECK(planted_positions(1, 8) == std::vector<std::int64_t>{0});
}

}  // namespace test_positions
