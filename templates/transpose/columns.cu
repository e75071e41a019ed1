// Columns of an image of the input to rows of the output. A block writes each row of the output from one boundary of a sector to another:
// where the tile's part does not begin on one, it begins above the tile, and the image has these rows as well.

constexpr unsigned kAbove = kSector / kElement;  // rows above the tile, enough for every shift

struct Target {
  Element* out;         // of the tile's first row and column
  Index rows;           // of the matrix
  unsigned columns;     // of the tile
  unsigned tile_rows;   // a multiple of a vector's elements
  unsigned above;       // rows of the image above the tile
  bool shifted;         // whether parts of rows begin off boundaries
  bool first, last;     // whether the tile is at the upper or lower edge of the matrix
  unsigned rows_there;  // rows from the tile's first to the matrix's last, if it is the last tile
};

__device__ __forceinline__ bool is_shifted(const Element* out, Index rows) {
  return rows * kElement % kSector != 0 || behind(out, kSector) != 0;
}

/// A vector of a column at an edge: those of its elements that are the block's.
__device__ __forceinline__ void store_clipped(const Image& image, const Target& target, Element* top, unsigned column, int row,
                                              unsigned shift) {
  const int begin = target.first ? 0 : -static_cast<int>(shift);
  const int end = static_cast<int>(target.last ? target.rows_there : target.tile_rows - shift);
  const unsigned address = image.begin + static_cast<unsigned>(static_cast<int>(target.above) + row) * image.pitch + column * kElement;
  if (row >= begin && row + static_cast<int>(kOfVector) <= end) {
    *reinterpret_cast<Vector*>(top + row) = gather(image, address);
    return;
  }
  for (int r = row < begin ? begin : row; r < row + static_cast<int>(kOfVector) && r < end; ++r) {
    top[r] = *element_at(image, address + static_cast<unsigned>(r - row) * image.pitch);
  }
}

template <bool kWhole>
__device__ __forceinline__ void store_vectors(const Image& image, const Target& target) {
  const Divider vectors = divider(target.tile_rows / kOfVector + (kWhole ? 0 : kSector / kVector));
  for (unsigned i = threadIdx.x; i < target.columns * vectors.by; i += kThreads) {
    const unsigned column = quotient(i, vectors);
    Element* const top = target.out + column * target.rows;
    const unsigned shift = target.shifted ? behind(top, kSector) / kElement : 0;
    const int row = static_cast<int>((i - column * vectors.by) * kOfVector) - static_cast<int>(shift);
    if constexpr (kWhole) {
      const unsigned address = image.begin + static_cast<unsigned>(static_cast<int>(target.above) + row) * image.pitch + column * kElement;
      *reinterpret_cast<Vector*>(top + row) = gather(image, address);
    } else {
      store_clipped(image, target, top, column, row, shift);
    }
  }
}

__device__ __forceinline__ void store_columns(const Image& image, const Target& target) {
  const bool whole = target.shifted ? !target.first && !target.last : !target.last || target.rows_there == target.tile_rows;
  if (whole)
    store_vectors<true>(image, target);
  else
    store_vectors<false>(image, target);
}

/// `tile` is of `tile_rows` rows, `columns_there` of its columns are in the matrix.
__device__ __forceinline__ Target target_of(Element* out, Index rows, const Tile& tile, unsigned tile_rows, unsigned columns_there) {
  Target target;
  target.out = out + tile.column * rows + tile.row;
  target.rows = rows;
  target.columns = columns_there;
  target.tile_rows = tile_rows;
  target.shifted = is_shifted(out, rows);
  target.first = tile.row == 0;
  target.last = tile.row + tile_rows >= rows;
  target.above = target.shifted && !target.first ? kAbove : 0;
  target.rows_there = at_most(rows - tile.row, tile_rows);
  return target;
}
