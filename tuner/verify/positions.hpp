#pragma once
#include <cstdint>
#include <vector>

namespace attune::verify {

/// Where an element is planted, for each choice of which a kernel may drop or repeat one: first, last, both sides of the edges of tiles,
/// and around the middle. `tile`: elements; 0 when unknown.
[[nodiscard]] std::vector<std::int64_t> planted_positions(std::int64_t count, std::int64_t tile);

/// The same of rows of `columns` elements behind each other: both ends of the first two, a middle and the last row, and around the edges of
/// tiles in the middle one.
[[nodiscard]] std::vector<std::int64_t> planted_positions(std::int64_t rows, std::int64_t columns, std::int64_t tile);

}  // namespace attune::verify
