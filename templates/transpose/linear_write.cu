// For matrices of few rows: a tile of whole columns is one piece of the output. Vectors that cover the rows of the tile are scattered to an
// image of it, which is written as such.

/// Scatters `rows` parts of rows of `span` bytes, the first of which begins at `from`, each in `across` vectors at most. The first and the
/// last vector of a row hold elements beside the tile as well: these go to places in front of the piece and behind it, which nobody reads.
__device__ __forceinline__ void scatter_rows(const Image& image, const unsigned char* from, Index row_bytes, unsigned rows, unsigned span,
                                             const Divider& across) {
  const unsigned all = rows * across.by;
  for (unsigned first = threadIdx.x; first < all; first += kLoads * kThreads) {
    Vector vectors[kLoads];
    unsigned places[kLoads];
    bool there[kLoads];
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k) {
      const unsigned i = first + k * kThreads, row = quotient(i, across), vector = i - row * across.by;
      const unsigned char* const begin = from + row * row_bytes;
      const unsigned shift = behind(begin, kVector);
      there[k] = i < all && vector * kVector < shift + span;
      places[k] = image.begin + row * kElement + (vector * kOfVector - shift / kElement) * image.pitch;
      if (there[k]) vectors[k] = load_vector(begin - shift + vector * kVector);
    }
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k) {
      if (there[k]) scatter(image, places[k], vectors[k]);
    }
  }
}

/// Writes the piece of `bytes` bytes that begins at `to`.
__device__ __forceinline__ void store_piece(const Image& image, unsigned char* to, unsigned bytes) {
  const unsigned shift = behind(to, kVector), end = shift + bytes;
  for (unsigned at = threadIdx.x * kVector; at < end; at += kThreads * kVector) {
    const unsigned address = image.begin - shift + at;
    if (at >= shift && at + kVector <= end) {
      *reinterpret_cast<Vector*>(to - shift + at) = get_vector(image, address);
      continue;
    }
    for (unsigned i = at < shift ? shift : at; i < at + kVector && i < end; i += kElement) {
      *reinterpret_cast<Element*>(to - shift + i) = *element_at(image, address + (i - at));
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads)
    transpose_linear_write(const Element* __restrict__ in, Element* __restrict__ out, Index rows, Index columns, Index tile_columns) {
  const Index column = blockIdx.x * tile_columns;
  const unsigned columns_there = at_most(columns - column, static_cast<unsigned>(tile_columns)), all_rows = static_cast<unsigned>(rows);
  const Element* const first = in + column;
  unsigned char* const to = reinterpret_cast<unsigned char*>(out + column * rows);
  // Up to a vector's columns stand in front of the tile.
  const Image image = image_at(kVector * all_rows + behind(to, kVector), all_rows * kElement);
  // Spans are a multiple of a vector: one more covers them wherever they begin.
  const Divider across = divider(static_cast<unsigned>(tile_columns) / kOfVector + 1);
  scatter_rows(image, reinterpret_cast<const unsigned char*>(first), columns * kElement, all_rows, columns_there * kElement, across);
  __syncthreads();
  store_piece(image, to, columns_there * all_rows * kElement);
}
