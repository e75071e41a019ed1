// What every variant needs: elements as plain bits, tiles, and which one a block has.

constexpr unsigned kThreads = ATTUNE_BLOCK_SIZE;
constexpr unsigned kElement = sizeof(attune_T);
constexpr unsigned kSector = 32;  // bytes that the memory writes at once

template <unsigned bytes>
struct Bits;
template <>
struct Bits<1> {
  using Type = unsigned char;
};
template <>
struct Bits<2> {
  using Type = unsigned short;
};
template <>
struct Bits<4> {
  using Type = unsigned;
};
template <>
struct Bits<8> {
  using Type = unsigned long long;
};

using Element = Bits<kElement>::Type;
using Index = long long;

/// Bytes between `address` and the boundary in front of it.
__device__ __forceinline__ unsigned behind(const void* address, unsigned boundary) {
  return static_cast<unsigned>(reinterpret_cast<unsigned long long>(address)) % boundary;
}

__device__ __forceinline__ unsigned at_most(Index there, unsigned most) {
  return there <= 0 ? 0 : there < static_cast<Index>(most) ? static_cast<unsigned>(there) : most;
}

struct Tile {
  Index row, column;  // where it begins
};

/// Blocks take tiles of this many rows and columns one after the other, along a row of tiles or along a column of them.
template <unsigned kTileRows, unsigned kTileColumns>
__device__ __forceinline__ Tile tile_of_block(Index rows, Index columns) {
  const Index down = (rows + kTileRows - 1) / kTileRows, across = (columns + kTileColumns - 1) / kTileColumns;
  const Index block = blockIdx.x;
  if constexpr (ATTUNE_WALK_ALONG_ROWS)
    return {block / across * kTileRows, block % across * kTileColumns};
  else
    return {block % down * kTileRows, block / down * kTileColumns};
}
