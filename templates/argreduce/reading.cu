// How a thread reads its share of the input and keeps the best element of it.

__device__ __forceinline__ void add_tile(State& state, const attune::Vector<kVectorBytes> (&v)[kItems], unsigned number) {
#pragma unroll
  for (unsigned k = 0; k < kItems; ++k) state.add(v[k], number + k);
}

// The candidate of a state whose vector 0 stood at `first`. `any`: whether there was a vector.
__device__ __forceinline__ Candidate resolve(const State& state, bool any, Address first, Address in) {
  const Place p = state.place(any);
  if (!p.found) return Best::identity();
  const Address vector = first + static_cast<Address>(p.number / kItems) * gridDim.x * Tile::kBytes + p.number % kItems * Tile::kItemBytes;
  return {p.value, static_cast<Index>(vector - in) / kElementBytes + p.lane};
}

#ifdef ATTUNE_N
constexpr Address kInputBytes = static_cast<Address>(ATTUNE_N) * kElementBytes;
constexpr bool kWholeTiles = kInputBytes > 0 && kInputBytes % Tile::kBytes == 0;

// Whether every block has one whole tile: no loop and no remainder then.
__device__ __forceinline__ bool has_one_tile_each(const ATTUNE_T* in) {
  return gridDim.x == kInputBytes / Tile::kBytes && attune::bytes_to_vector<kVectorBytes>(attune::address_of(in)) == 0;
}

// As read_share, where has_one_tile_each.
template <class Meanwhile>
__device__ __forceinline__ Candidate read_one_tile(const ATTUNE_T* __restrict__ in, Meanwhile meanwhile) {
  const Address base = attune::address_of(in);
  const Address at = base + static_cast<Address>(blockIdx.x) * Tile::kBytes;
  attune::Vector<kVectorBytes> v[kItems];
  Tile::load<ATTUNE_T>(v, at, Tile::kBytes, Extreme::neutral());
  meanwhile();
  State state;
  add_tile(state, v, 0);
  return resolve(state, true, at + threadIdx.x * kVectorBytes, base);
}
#endif

// What this thread makes of its share of the input. `meanwhile` runs once, when the first loads are on their way.
// The loop is turned so that a tile's loads end an iteration and their use begins the next: the assembler cannot move
// the use between them then, as it does otherwise to save registers. The last tile may be ragged: the same instructions read
// it, with what is never better in place of the vectors that it lacks; those come behind all that it has. The elements that no
// vector holds go to the last block, where all threads go the same way. Addresses are in bytes.
template <class Meanwhile>
__device__ __forceinline__ Candidate read_share(const ATTUNE_T* __restrict__ in, Index n, Meanwhile meanwhile) {
  const Address base = attune::address_of(in), end = base + static_cast<Address>(n * kElementBytes);
  const Address begin = base + attune::bytes_to_vector<kVectorBytes>(base);
  const Address place = threadIdx.x * kVectorBytes;
  Address at = begin + static_cast<Address>(blockIdx.x) * Tile::kBytes;
  const Address last = end - kVectorBytes;  // where a whole vector may still begin

  State state;
  Address first = at;
  unsigned number = 0;
  attune::Vector<kVectorBytes> v[kItems];
  int bytes = Tile::bytes_before(at, end);
  Tile::load<ATTUNE_T>(v, at, bytes, Extreme::neutral());
  meanwhile();
  auto edge = attune::filled<ATTUNE_T, kElementBytes>(Extreme::neutral());
  Index edge_index = kNone;
  if (kWidth > 1 && blockIdx.x == gridDim.x - 1) {
    const auto loose = attune::Loose::of<ATTUNE_T, kVectorBytes>(base, begin, end, n);
    const bool there = loose.there(threadIdx.x);
    const Index index = loose.index(threadIdx.x, n);
    attune::load_vector_if(there, attune::address_of(in + index), edge);
    edge_index = there ? index : kNone;
  }
  Candidate best = Best::identity();
  bool any = false;
#pragma unroll 1
  while (at <= last) {
    add_tile(state, v, number);
    any = any || Tile::holds(bytes, 0);
    number += kItems;
    at += static_cast<Address>(gridDim.x) * Tile::kBytes;
    bytes = Tile::bytes_before(at, end);
    if (at <= last) Tile::load<ATTUNE_T>(v, at, bytes, Extreme::neutral());
    if (number >= State::kSpan) {
      best = Best::combine(best, resolve(state, any, first + place, base));
      state = State();
      any = false;
      first = at;
      number = 0;
    }
  }
  best = Best::combine(best, resolve(state, any, first + place, base));
  if constexpr (kWidth == 1) return best;
  attune::keep_here(edge);
  const Value x = attune::element<ATTUNE_T>(edge, 0);
  return edge_index != kNone && x == x ? Best::combine(best, {x, edge_index}) : best;
}
