// For wide matrices of any alignment: the rows of a tile lie in shared memory as vectors that cover them, each row behind its own boundary,
// and columns are gathered from there.

constexpr unsigned kRows = ATTUNE_TILE_ROWS;
constexpr unsigned kColumns = ATTUNE_TILE_COLUMNS;
constexpr unsigned kSpan = kColumns * kElement;    // bytes of a row of the tile
constexpr unsigned kAcross = kSpan / kVector + 1;  // vectors that cover them wherever they begin

/// Loads `rows` parts of rows of `span` bytes, the first of which begins at `from`. Only vectors that hold some of these bytes are read.
__device__ __forceinline__ void load_rows(const Image& image, const unsigned char* from, Index row_bytes, unsigned rows, unsigned span) {
  const unsigned all = rows * kAcross;
  for (unsigned first = threadIdx.x; first < all; first += kLoads * kThreads) {
    Vector vectors[kLoads];
    unsigned places[kLoads];
    bool there[kLoads];
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k) {
      const unsigned i = first + k * kThreads, row = i / kAcross, offset = i % kAcross * kVector;
      const unsigned begin = image.begin + row * image.pitch, shift = begin % kVector;
      places[k] = begin - shift + offset;
      there[k] = i < all && offset < shift + span;
      if (there[k]) vectors[k] = load_vector(from + row * row_bytes - shift + offset);
    }
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k) {
      if (there[k]) put_vector(image, places[k], vectors[k]);
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads)
    transpose_gather(const Element* __restrict__ in, Element* __restrict__ out, Index rows, Index columns) {
  const Tile tile = tile_of_block<kRows, kColumns>(rows, columns);
  const Target target = target_of(out, rows, tile, kRows, at_most(columns - tile.column, kColumns));
  const Element* const first = in + (tile.row - target.above) * columns + tile.column;
  // The pitch is of the matrix's alignment: then every row is as far behind a boundary here as there, and no two rows share a vector.
  const Image image = image_at(behind(first, kVector), kSpan + kVector + static_cast<unsigned>(columns * kElement % kVector));
  load_rows(image, reinterpret_cast<const unsigned char*>(first), columns * kElement, target.above + target.rows_there,
            target.columns * kElement);
  __syncthreads();
  store_columns(image, target);
}
