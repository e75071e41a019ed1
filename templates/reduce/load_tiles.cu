// Loading by tiles: from the first address that is aligned to a vector on, the input is dealt to the blocks in tiles of
// kBlock * kItems vectors, round-robin. A thread issues all kItems loads of a tile before it uses the first. What does not
// fill a tile goes to the block whose turn it is then, by whole vectors and single elements; the elements before the
// first aligned address go to the last block, which never has more tiles than another, and are loaded before its tiles.

__device__ __forceinline__ void load_tile(Loaded (&v)[kItems], const Source& source, Address at) {
#pragma unroll
  for (unsigned k = 0; k < kItems; ++k) v[k] = load(source, at + k * (kBlock * kVectorBytes));
}

__device__ __forceinline__ void add_tile(State& state, const Loaded (&v)[kItems], const Scalars& scalars) {
#pragma unroll
  for (unsigned k = 0; k < kItems; ++k) state.add(v[k], scalars);
}

#ifdef ATTUNE_N
constexpr Address kInputBytes = static_cast<Address>(ATTUNE_N) * sizeof(In);
constexpr bool kWholeTiles = kInputBytes > 0 && kInputBytes % kTileBytes == 0;

// Whether every block has one whole tile: no loop and no remainder then.
__device__ __forceinline__ bool has_one_tile_each(const In* in) {
  return gridDim.x == kInputBytes / kTileBytes && attune::bytes_to_vector<kVectorBytes>(attune::address_of(in)) == 0;
}

// As read_share, where has_one_tile_each.
template <class Meanwhile>
__device__ __forceinline__ Value read_one_tile(const In* in, const In* other, const Scalars& scalars, Meanwhile meanwhile) {
  const Source source = source_of(in, other);
  Loaded v[kItems];
  load_tile(v, source, source.in + static_cast<Address>(blockIdx.x) * kTileBytes + threadIdx.x * kVectorBytes);
  meanwhile();
  State state(Op::identity());
  add_tile(state, v, scalars);
  return state.total();
}
#endif

// What this thread makes of its share of the input. `meanwhile` runs once, when the first loads are on their way.
// The loop is turned so that a tile's loads end an iteration and their use begins the next: the assembler cannot move
// the use between them then, as it does otherwise to save registers. Few instructions stand before the first load, since
// they take a measurable part of a small reduction's time. Addresses are in bytes and signed (`end` less a tile lies
// below 0 when there is no input); this thread's place in a tile is part of both `at` and `end`.
template <class Meanwhile>
__device__ __forceinline__ Value read_share(const In* in, const In* other, Index n, const Scalars& scalars, Meanwhile meanwhile) {
  const Source source = source_of(in, other);
  const Address place = threadIdx.x * kVectorBytes;
  const unsigned head = attune::bytes_to_vector<kVectorBytes>(source.in);
  const Address end = source.in + static_cast<Address>(n * sizeof(In)) + place;
  Address at = source.in + head + static_cast<Address>(blockIdx.x) * kTileBytes + place;

  Value first = Op::identity();
  if (kWidth > 1 && head != 0 && blockIdx.x == gridDim.x - 1)
    if (threadIdx.x * sizeof(In) < head && threadIdx.x < n) first = Op::combine(first, load_one(source, threadIdx.x, scalars));
  State state(first);

  Loaded v[kItems];
  bool more = at <= end - kTileBytes;
  if (more) load_tile(v, source, at);
  meanwhile();
#pragma unroll 1
  while (more) {
    add_tile(state, v, scalars);
    at += static_cast<Address>(gridDim.x) * kTileBytes;
    more = at <= end - kTileBytes;
    if (more) load_tile(v, source, at);
  }
  Value last = Op::identity();
  if (at < end) {  // one block: what does not fill a tile
    const unsigned rest = static_cast<unsigned>(end - at);
#pragma unroll
    for (unsigned k = 0; k < kItems; ++k)
      if ((k * kBlock + threadIdx.x + 1) * kVectorBytes <= rest) v[k] = load(source, at + k * (kBlock * kVectorBytes));
    if constexpr (kWidth > 1) {
      const unsigned tail = rest % kVectorBytes;
      if (threadIdx.x * sizeof(In) < tail) last = Op::combine(last, load_one(source, n - tail / sizeof(In) + threadIdx.x, scalars));
    }
#pragma unroll
    for (unsigned k = 0; k < kItems; ++k)
      if ((k * kBlock + threadIdx.x + 1) * kVectorBytes <= rest) state.add(v[k], scalars);
  }
  return Op::combine(state.total(), last);
}
