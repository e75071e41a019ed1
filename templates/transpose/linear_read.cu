// For matrices of few columns: a tile of whole rows is one piece of memory, which is read as such, and columns are gathered from there.

/// Loads the piece of `bytes` bytes that begins at `from`.
__device__ __forceinline__ void load_piece(const Image& image, const unsigned char* from, unsigned bytes) {
  const unsigned all = (image.begin + bytes + kVector - 1) / kVector;
  for (unsigned first = threadIdx.x; first < all; first += kLoads * kThreads) {
    Vector vectors[kLoads];
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k) {
      const unsigned i = first + k * kThreads;
      if (i < all) vectors[k] = load_vector(from - image.begin + i * kVector);
    }
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k) {
      const unsigned i = first + k * kThreads;
      if (i < all) put_vector(image, i * kVector, vectors[k]);
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads)
    transpose_linear_read(const Element* __restrict__ in, Element* __restrict__ out, Index rows, Index columns, Index tile_rows) {
  const Tile tile{blockIdx.x * tile_rows, 0};
  const unsigned row_bytes = static_cast<unsigned>(columns) * kElement;
  const Target target = target_of(out, rows, tile, static_cast<unsigned>(tile_rows), static_cast<unsigned>(columns));
  const Element* const first = in + (tile.row - target.above) * columns;
  const Image image = image_at(behind(first, kVector), row_bytes);
  load_piece(image, reinterpret_cast<const unsigned char*>(first), (target.above + target.rows_there) * row_bytes);
  __syncthreads();
  store_columns(image, target);
}
