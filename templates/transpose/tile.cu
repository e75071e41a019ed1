// The textbook's variant: a tile is read by rows into shared memory and read from there by columns, an element at a time, so that threads
// that follow each other write elements that follow each other. Columns of a plain tile lie in few banks. A word more in each row spreads
// them, and so do columns that change places by their row.

constexpr unsigned kRows = ATTUNE_TILE_ROWS;
constexpr unsigned kColumns = ATTUNE_TILE_COLUMNS;
constexpr unsigned kOfBank = kElement < 4 ? 4 / kElement : 1;  // elements of a bank's word
constexpr unsigned kPitch = kColumns + (ATTUNE_STAGING_PADDED ? kOfBank : 0);

__device__ __forceinline__ unsigned place(unsigned row, unsigned column) {
  if constexpr (ATTUNE_STAGING_SWIZZLED) return row * kPitch + (column ^ (row / kOfBank * kOfBank % kColumns));
  return row * kPitch + column;
}

extern "C" __global__ void __launch_bounds__(kThreads)
    transpose_tile(const Element* __restrict__ in, Element* __restrict__ out, Index rows, Index columns) {
  __shared__ Element shared[kRows * kPitch];
  const Tile tile = tile_of_block<kRows, kColumns>(rows, columns);
  const unsigned rows_there = at_most(rows - tile.row, kRows), columns_there = at_most(columns - tile.column, kColumns);
#pragma unroll
  for (unsigned k = 0; k < kRows * kColumns / kThreads; ++k) {
    const unsigned i = threadIdx.x + k * kThreads, row = i / kColumns, column = i % kColumns;
    if (row < rows_there && column < columns_there) shared[place(row, column)] = in[(tile.row + row) * columns + tile.column + column];
  }
  __syncthreads();
#pragma unroll
  for (unsigned k = 0; k < kRows * kColumns / kThreads; ++k) {
    const unsigned i = threadIdx.x + k * kThreads, column = i / kRows, row = i % kRows;
    if (row < rows_there && column < columns_there) out[(tile.column + column) * rows + tile.row + row] = shared[place(row, column)];
  }
}
