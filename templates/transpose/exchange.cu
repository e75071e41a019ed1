// A tile of the input is read by rows, turned in shared memory, and written by rows of the output. Where these do not begin on sectors,
// every row of the output has its own part of the tile's rows and of those above: so many that it is written in whole sectors.

constexpr unsigned kRows = ATTUNE_TILE_ROWS;
constexpr unsigned kColumns = ATTUNE_TILE_COLUMNS;
constexpr unsigned kAbove = kSector / kElement;      // rows above the tile
constexpr unsigned kAcross = kColumns / kPer;        // words of a row of the tile
constexpr unsigned kDown = (kRows + kAbove) / kPer;  // words of a column, with those above
constexpr unsigned kWordsAbove = kAbove / kPer;
// Padded: lanes that store words of columns kPer apart are an odd number of words from each other; so are columns beside each other, but for
// every kPer-th.
constexpr bool kPadded = ATTUNE_STAGING_PADDED;
constexpr unsigned kPitch = kPadded ? kDown | 1 : kDown;
constexpr unsigned kWords = kColumns * kPitch + (kPadded ? kColumns / kPer : 0) + 1;  // what is read in pairs may end a word behind the last
constexpr unsigned kLowMask = (kRows / kPer < 32 ? kRows / kPer : 32) - 1;
constexpr unsigned kStored = ATTUNE_STORE_PARTS;

/// Where the word `down` of column `column` of the tile lies in shared memory, in words. Words of the tile change places, those above do
/// not.
__device__ __forceinline__ unsigned place(unsigned column, unsigned down) {
  if constexpr (ATTUNE_STAGING_SWIZZLED) {
    const unsigned in_tile = down - kWordsAbove;
    return column * kPitch + (down < kWordsAbove ? down : kWordsAbove + (in_tile ^ (column / kPer & kLowMask)));
  }
  return column * kPitch + (kPadded && kPer > 1 ? column / kPer : 0) + down;
}

__device__ __forceinline__ Part part_at(const Word* tile, unsigned column, unsigned part) {
  return reinterpret_cast<const Part*>(tile)[place(column, part / kParts) * kParts + part % kParts];
}
__device__ __forceinline__ Element element_at(const Word* tile, unsigned column, unsigned row) {
  return static_cast<Element>(part_at(tile, column, row / kOfPart) >> (row % kOfPart * kElement * 8));
}
/// Parts of a column that is not swizzled lie side by side, and are read two at a time.
template <unsigned kCount>
constexpr bool kPaired = !ATTUNE_STAGING_SWIZZLED && kParts >= 2 && kCount >= 2;

struct alignas(2 * kPart) Pair {
  Part part[2];
};

/// kCount parts of a column that follow each other. In pairs, as where they lie side by side, one more comes with them.
template <unsigned kCount>
__device__ __forceinline__ void read_parts(const Word* tile, unsigned column, unsigned first, Part (&parts)[kCount + 2]) {
  if constexpr (kPaired<kCount>) {
    const Pair* const from = reinterpret_cast<const Pair*>(reinterpret_cast<const Part*>(tile + place(column, 0)) + first / 2 * 2);
#pragma unroll
    for (unsigned p = 0; p < kCount + 2; p += 2) {
      const Pair pair = from[p / 2];
      parts[p] = pair.part[0];
      parts[p + 1] = pair.part[1];
    }
    const bool second = first % 2 != 0;
#pragma unroll
    for (unsigned p = 0; p <= kCount; ++p) parts[p] = second ? parts[p + 1] : parts[p];
  } else {
#pragma unroll
    for (unsigned p = 0; p < kCount; ++p) parts[p] = part_at(tile, column, first + p);
  }
}

/// The parts that begin with a row, which need not be the first of a part.
template <unsigned kCount>
__device__ __forceinline__ void parts_from(const Word* tile, unsigned column, unsigned row, Part (&found)[kCount]) {
  const unsigned first = row / kOfPart;
  Part parts[kCount + 2];
  read_parts<kCount>(tile, column, first, parts);
  if constexpr (kElement < 4) {
    const unsigned shift = row % kOfPart * kElement * 8;
    if constexpr (!kPaired<kCount>) parts[kCount] = shift == 0 ? 0 : part_at(tile, column, first + kCount);
#pragma unroll
    for (unsigned p = 0; p < kCount; ++p) found[p] = __funnelshift_r(parts[p], parts[p + 1], shift);
  } else {
#pragma unroll
    for (unsigned p = 0; p < kCount; ++p) found[p] = parts[p];
  }
}

/// Words kFrom to kFrom + kCount - 1 of every column.
template <Lie lie, unsigned kFrom, unsigned kCount>
__device__ __forceinline__ void load_squares(const Element* in, Index rows, Index columns, const Tile& tile, Word* shared) {
  const unsigned columns_there = at_most(columns - tile.column, kColumns);
  const Element* const end = in + rows * columns;
  constexpr unsigned kAll = kAcross * kCount, kEach = (kAll + kThreads - 1) / kThreads;
  Word words[kEach][kPer];
#pragma unroll
  for (unsigned k = 0; k < kEach; ++k) {
    const unsigned i = threadIdx.x + k * kThreads, across = i % kAcross, down = kFrom + i / kAcross;
    const Index row = tile.row - static_cast<Index>(kAbove) + down * kPer;
    const Element* const first = in + row * columns + tile.column + across * kPer;
    const unsigned there = at_most(static_cast<Index>(columns_there) - across * kPer, kPer);
#pragma unroll
    for (unsigned r = 0; r < kPer; ++r) {
      if ((kAll % kThreads == 0 || i < kAll) && (lie != Lie::Ragged || (there > 0 && row + r >= 0 && row + r < rows)))
        words[k][r] = load_word<lie>(first + r * columns, there, in, end);
    }
  }
#pragma unroll
  for (unsigned k = 0; k < kEach; ++k) {
    const unsigned i = threadIdx.x + k * kThreads, across = i % kAcross, down = kFrom + i / kAcross;
    exchange(words[k]);
    if (kAll % kThreads != 0 && i >= kAll) continue;
#pragma unroll
    for (unsigned column = 0; column < kPer; ++column) shared[place(across * kPer + column, down)] = words[k][column];
  }
}

struct alignas(kStored* kPart) Stored {
  Part part[kStored];
};

/// The rows of the tile's columns that this block writes, by `kMore` rows more than a tile has.
template <unsigned kMore, bool kAll>
__device__ __forceinline__ void store_tile(const Word* shared, Element* out, Index rows, Index columns, const Tile& tile, bool shifted) {
  const unsigned columns_there = at_most(columns - tile.column, kColumns);
  const bool last = tile.row + kRows >= rows;
  constexpr unsigned kOfColumn = (kRows + kMore) / kOfPart / kStored, kTimes = (kColumns * kOfColumn + kThreads - 1) / kThreads;
#pragma unroll
  for (unsigned k = 0; k < kTimes; ++k) {
    const unsigned i = threadIdx.x + k * kThreads, column = i / kOfColumn;
    if (!kAll && column >= columns_there) continue;
    Element* const to = out + (tile.column + column) * rows + tile.row;
    const unsigned shift = shifted ? behind(to, kSector) / kElement : 0;
    const unsigned begin = tile.row == 0 ? kAbove : kAbove - shift,
                   end = last ? kAbove + static_cast<unsigned>(rows - tile.row) : kAbove + kRows - shift;
    const unsigned row = kAbove - shift + i % kOfColumn * kStored * kOfPart;
    Element* const at = to + static_cast<int>(row) - static_cast<int>(kAbove);
    if (kAll || (row >= begin && row + kStored * kOfPart <= end)) {
      Stored stored;
      parts_from<kStored>(shared, column, row, stored.part);
      if (kAll || behind(at, kStored * kPart) == 0) {
        *reinterpret_cast<Stored*>(at) = stored;
        continue;
      }
    }
    if constexpr (!kAll) {
      for (unsigned r = row < begin ? begin : row; r < row + kStored * kOfPart && r < end; ++r)
        at[static_cast<int>(r) - static_cast<int>(row)] = element_at(shared, column, r);
    }
  }
}

extern "C" __global__ void
#if ATTUNE_RESIDENT_THREADS
    __launch_bounds__(kThreads, ATTUNE_RESIDENT_THREADS / kThreads)
#else
    __launch_bounds__(kThreads)
#endif
    transpose_exchange(const Element* __restrict__ in, Element* __restrict__ out, Index rows, Index columns) {
  const Tile tile = tile_of_block<kRows, kColumns>(rows, columns);
  __shared__ Word shared[kWords];
  const bool whole = tile.row + kRows <= rows && tile.column + kColumns <= columns;
  // Shifted words read up to a part in front of their tile and behind it.
  const bool inside =
      whole && (kElement >= kPart || (tile.row + tile.column > 0 && (tile.row + kRows < rows || tile.column + kColumns < columns)));
  const bool rows_aligned = kWord == kElement || ((columns * kElement) % kWord == 0 && behind(in, kWord) == 0);
  const bool aligned = (rows * kElement) % kSector == 0 && behind(out, kSector) == 0, shifted = !aligned;
  constexpr unsigned kInTile = kRows / kPer;
  if (whole && rows_aligned)
    load_squares<Lie::Aligned, kWordsAbove, kInTile>(in, rows, columns, tile, shared);
  else if (inside)
    load_squares<Lie::Whole, kWordsAbove, kInTile>(in, rows, columns, tile, shared);
  else
    load_squares<Lie::Ragged, kWordsAbove, kInTile>(in, rows, columns, tile, shared);
  if (shifted && tile.row > 0) {
    if (whole && rows_aligned)
      load_squares<Lie::Aligned, 0, kWordsAbove>(in, rows, columns, tile, shared);
    else if (inside)
      load_squares<Lie::Whole, 0, kWordsAbove>(in, rows, columns, tile, shared);
    else
      load_squares<Lie::Ragged, 0, kWordsAbove>(in, rows, columns, tile, shared);
  }
  __syncthreads();
  if (aligned && whole)
    store_tile<0, true>(shared, out, rows, columns, tile, false);
  else if (shifted && whole && tile.row > 0 && tile.row + kRows < rows)
    store_tile<0, true>(shared, out, rows, columns, tile, true);
  else
    store_tile<kAbove, false>(shared, out, rows, columns, tile, shifted);
}
