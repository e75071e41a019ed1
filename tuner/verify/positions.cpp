#include "tuner/verify/positions.hpp"

#include <set>

namespace attune::verify {
namespace {

constexpr std::size_t kMostPlanted = 16;

}  // namespace

std::vector<std::int64_t> planted_positions(std::int64_t count, std::int64_t tile) {
  std::set<std::int64_t> chosen;
  const auto choose = [&](std::int64_t position) {
    if (position >= 0 && position < count && chosen.size() < kMostPlanted) chosen.insert(position);
  };
  choose(0);
  choose(count - 1);
  choose(count - 2);
  const std::vector<std::int64_t> edges = tile > 0 ? std::vector<std::int64_t>{tile, count / tile / 2 * tile, count / tile * tile}
                                                   : std::vector<std::int64_t>{32, 1024, std::int64_t{1} << 16, count / 2};
  for (const std::int64_t edge : edges) {
    choose(edge - 1);
    choose(edge);
    choose(edge + 1);
  }
  return {chosen.begin(), chosen.end()};
}

std::vector<std::int64_t> planted_positions(std::int64_t rows, std::int64_t columns, std::int64_t tile) {
  if (rows == 0 || columns == 0) return {};
  std::set<std::int64_t> chosen;
  for (const std::int64_t row : {std::int64_t{0}, std::int64_t{1}, rows / 2, rows - 1}) {
    if (row >= rows) continue;
    chosen.insert(row * columns);
    chosen.insert(row * columns + columns - 1);
  }
  const std::int64_t middle = rows / 2 * columns;
  const std::vector<std::int64_t> edges = tile > 0 ? std::vector<std::int64_t>{tile, columns / tile / 2 * tile, columns / tile * tile}
                                                   : std::vector<std::int64_t>{32, 1024, columns / 2};
  for (const std::int64_t edge : edges) {
    for (const std::int64_t column : {edge - 1, edge, edge + 1}) {
      if (column >= 0 && column < columns) chosen.insert(middle + column);
    }
  }
  return {chosen.begin(), chosen.end()};
}

}  // namespace attune::verify
