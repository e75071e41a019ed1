// Loading by other schedules of the literature; each thread keeps kItems loads in flight. Vectors are counted from the
// first aligned address on; the few elements before and behind them go to the last block.
//   grid_stride  the whole grid walks over the input: neighbouring blocks read neighbouring vectors
//   chunks       every block has a contiguous part of the input
//   two_halves   as grid_stride, over both halves of the input at once: in[i] and in[i + n/2]

struct Range {
  Index first, end, stride;  // of this thread, in vectors
};

__device__ __forceinline__ Range range_of(Index vectors) {
#if ATTUNE_LOAD_CHUNKS
  // In units of 128 bytes, so that no two blocks share a cache line.
  constexpr Index kUnit = kVectorBytes < 128 ? 128 / kVectorBytes : 1;
  const Index units = (vectors + kUnit - 1) / kUnit;
  const Index each = units / gridDim.x, more = units % gridDim.x, block = blockIdx.x;
  const Index begin = (block * each + (block < more ? block : more)) * kUnit;
  const Index end = begin + (each + (block < more)) * kUnit;
  return {begin + threadIdx.x, end < vectors ? end : vectors, kBlock};
#else
  return {blockIdx.x * Index{kBlock} + threadIdx.x, vectors, Index{gridDim.x} * kBlock};
#endif
}

// kItems vectors from `first` on, `stride` apart; all of them, or those before `end`.
template <bool All>
__device__ __forceinline__ void take(State& state, const Source& source, Address base, Index first, const Range& range, const Scalars& scalars) {
  Loaded v[kItems];
#pragma unroll
  for (unsigned k = 0; k < kItems; ++k) {
    const Index i = first + k * range.stride;
    if (All || i < range.end) v[k] = load(source, base + static_cast<Address>(i * kVectorBytes));
  }
#pragma unroll
  for (unsigned k = 0; k < kItems; ++k)
    if (All || first + k * range.stride < range.end) state.add(v[k], scalars);
}

__device__ __forceinline__ void take_range(State& state, const Source& source, Address base, const Range& range, const Scalars& scalars) {
  Index i = range.first;
#pragma unroll 1
  for (; i + (kItems - 1) * range.stride < range.end; i += kItems * range.stride) take<true>(state, source, base, i, range, scalars);
  if (i < range.end) take<false>(state, source, base, i, range, scalars);
}

// Both halves: a step loads kItems vectors of each before it uses the first.
__device__ __forceinline__ void take_halves(State& state, const Source& source, Address base, Index vectors, const Scalars& scalars) {
  const Index half = vectors / 2;
  const Range range = range_of(half);
  const Address second = base + static_cast<Address>(half * kVectorBytes);
#pragma unroll 1
  for (Index i = range.first; i < range.end; i += kItems * range.stride) {
    Loaded a[kItems], b[kItems];
#pragma unroll
    for (unsigned k = 0; k < kItems; ++k) {
      const Index at = i + k * range.stride;
      if (at < range.end) {
        a[k] = load(source, base + static_cast<Address>(at * kVectorBytes));
        b[k] = load(source, second + static_cast<Address>(at * kVectorBytes));
      }
    }
#pragma unroll
    for (unsigned k = 0; k < kItems; ++k) {
      if (i + k * range.stride < range.end) {
        state.add(a[k], scalars);
        state.add(b[k], scalars);
      }
    }
  }
  // An odd vector.
  if (vectors % 2 != 0 && blockIdx.x == 0 && threadIdx.x == 0)
    state.add(load(source, second + static_cast<Address>(half * kVectorBytes)), scalars);
}

// What this thread makes of its share of the input. `meanwhile` runs once.
template <class Meanwhile>
__device__ __forceinline__ Value read_share(const In* in, const In* other, Index n, const Scalars& scalars, Meanwhile meanwhile) {
  const Source source = source_of(in, other);
  const unsigned to_vector = attune::bytes_to_vector<kVectorBytes>(source.in) / sizeof(In);
  const unsigned head = to_vector < n ? to_vector : static_cast<unsigned>(n);
  const Index vectors = (n - head) / kWidth;
  const Address base = source.in + static_cast<Address>(head * sizeof(In));
  Value edges = Op::identity();
  if (kWidth > 1 && blockIdx.x == gridDim.x - 1) {
    if (threadIdx.x < head) edges = Op::combine(edges, load_one(source, threadIdx.x, scalars));
    const unsigned tail = static_cast<unsigned>((n - head) % kWidth);
    if (threadIdx.x < tail) edges = Op::combine(edges, load_one(source, n - tail + threadIdx.x, scalars));
  }
  meanwhile();
  State state(Op::identity());
#if ATTUNE_LOAD_TWO_HALVES
  take_halves(state, source, base, vectors, scalars);
#else
  take_range(state, source, base, range_of(vectors), scalars);
#endif
  return Op::combine(state.total(), edges);
}
