// Loading by tiles: from the first address that is aligned to a vector on, the input is dealt to the blocks in tiles of
// kBlock * kItems vectors, round-robin. A thread issues all kItems loads of a tile before it uses the first. The last tile may be
// ragged: the same instructions read it, with the vectors that it lacks left out. Code of its own for it would be fetched when all
// other blocks are done already, and its loads would be a second way to memory: 1 us of the 3 that a small reduction takes. The
// elements that no vector holds, before the first aligned address and behind the last whole vector, go to the last block, which
// never has more tiles than another.

// Vectors that the tile lacks are filled with what changes nothing, where there is such an element, so that they need no test when
// they are added.
__device__ __forceinline__ void load_tile(Loaded (&v)[kItems], const Source& source, Address at, int bytes) {
  at += threadIdx.x * kVectorBytes;
#pragma unroll
  for (unsigned k = 0; k < kItems; ++k) v[k] = load_if(Tile::holds(bytes, k), source, at + k * Tile::kItemBytes);
}

__device__ __forceinline__ void add_tile(State& state, const Loaded (&v)[kItems], int bytes, const Scalars& scalars) {
#pragma unroll
  for (unsigned k = 0; k < kItems; ++k)
    if (kHasNeutral || Tile::holds(bytes, k)) state.add(v[k], scalars);
}

// This thread's loose element. Of the last block only; there all threads go the same way, and the bits are not looked at before they
// are needed.
struct Edge {
  bool there = false;
  attune::Single<In> x = attune::filled<In, sizeof(In)>(neutral()), y = x;

  __device__ __forceinline__ void load(const Source& source, Index n, attune::Loose loose) {
    there = loose.there(threadIdx.x);
    const Index i = loose.index(threadIdx.x, n);
    attune::load_vector_if(there, source.in + static_cast<Address>(i * sizeof(In)), x);
    if constexpr (kTwoInputs) attune::load_vector_if(there, source.other + static_cast<Address>(i * sizeof(In)), y);
  }
  __device__ __forceinline__ Value value(const Scalars& scalars) {
    attune::keep_here(x);
    if constexpr (kTwoInputs) attune::keep_here(y);
    if (!kHasNeutral && !there) return Op::identity();
    return Op::combine(Op::identity(), mapped(attune::element<In>(x, 0), attune::element<In>(y, 0), scalars));
  }
};

#ifdef ATTUNE_N
constexpr Address kInputBytes = static_cast<Address>(ATTUNE_N) * sizeof(In);
constexpr bool kWholeTiles = kInputBytes > 0 && kInputBytes % Tile::kBytes == 0;

// Whether every block has one whole tile: no loop and no remainder then.
__device__ __forceinline__ bool has_one_tile_each(const In* in) {
  return gridDim.x == kInputBytes / Tile::kBytes && attune::bytes_to_vector<kVectorBytes>(attune::address_of(in)) == 0;
}

// As read_share, where has_one_tile_each.
template <class Meanwhile>
__device__ __forceinline__ Value read_one_tile(const In* in, const In* other, const Scalars& scalars, Meanwhile meanwhile) {
  const Source source = source_of(in, other);
  Loaded v[kItems];
#pragma unroll
  for (unsigned k = 0; k < kItems; ++k)
    v[k] = load(source, source.in + static_cast<Address>(blockIdx.x) * Tile::kBytes + (k * kBlock + threadIdx.x) * kVectorBytes);
  meanwhile();
  State state(Op::identity());
#pragma unroll
  for (unsigned k = 0; k < kItems; ++k) state.add(v[k], scalars);
  return state.total();
}
#endif

// What this thread makes of its share of the input. `meanwhile` runs once, when the first loads are on their way.
// The loop is turned so that a tile's loads end an iteration and their use begins the next: the assembler cannot move
// the use between them then, as it does otherwise to save registers. Few instructions stand before the first load, since
// they take a measurable part of a small reduction's time. Addresses are in bytes.
template <class Meanwhile>
__device__ __forceinline__ Value read_share(const In* in, const In* other, Index n, const Scalars& scalars, Meanwhile meanwhile) {
  const Source source = source_of(in, other);
  const Address end = source.in + static_cast<Address>(n * sizeof(In));
  const Address begin = source.in + attune::bytes_to_vector<kVectorBytes>(source.in);
  Address at = begin + static_cast<Address>(blockIdx.x) * Tile::kBytes;
  const Address last = end - kVectorBytes;  // where a whole vector may still begin

  Loaded v[kItems];
  int bytes = Tile::bytes_before(at, end);  // few blocks begin behind the end, and not by more than an int holds
  load_tile(v, source, at, bytes);
  meanwhile();
  Edge edge;
  if (kWidth > 1 && blockIdx.x == gridDim.x - 1) edge.load(source, n, attune::Loose::of<In, kVectorBytes>(source.in, begin, end, n));
  State state(Op::identity());
#pragma unroll 1
  while (at <= last) {
    add_tile(state, v, bytes, scalars);
    at += static_cast<Address>(gridDim.x) * Tile::kBytes;
    bytes = Tile::bytes_before(at, end);
    if (at <= last) load_tile(v, source, at, bytes);
  }
  return kWidth > 1 ? Op::combine(state.total(), edge.value(scalars)) : state.total();
}
