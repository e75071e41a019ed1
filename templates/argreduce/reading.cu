// How a thread reads its share of the input and keeps the best element of it.

__device__ __forceinline__ void load_tile(attune::Vector<kVectorBytes> (&v)[kItems], Address at) {
#pragma unroll
  for (unsigned k = 0; k < kItems; ++k) v[k] = attune::load_vector<kVectorBytes>(at + k * kItemBytes);
}

__device__ __forceinline__ void add_tile(State& state, const attune::Vector<kVectorBytes> (&v)[kItems], unsigned number) {
#pragma unroll
  for (unsigned k = 0; k < kItems; ++k) state.add(v[k], number + k);
}

// The candidate of a state whose vector 0 stood at `first`. `any`: whether there was a vector.
__device__ __forceinline__ Candidate resolve(const State& state, bool any, Address first, Address in) {
  const Place p = state.place(any);
  if (!p.found) return Best::identity();
  const Address vector = first + static_cast<Address>(p.number / kItems) * gridDim.x * kTileBytes + p.number % kItems * kItemBytes;
  return {p.value, static_cast<Index>(vector - in) / kElementBytes + p.lane};
}

// A single element that no vector holds.
__device__ __forceinline__ Candidate single(const ATTUNE_T* __restrict__ in, Index index) {
  const Value x = attune::load_element(in + index);
  return x == x ? Candidate{x, index} : Best::identity();
}

#ifdef ATTUNE_N
constexpr Address kInputBytes = static_cast<Address>(ATTUNE_N) * kElementBytes;
constexpr bool kWholeTiles = kInputBytes > 0 && kInputBytes % kTileBytes == 0;

// Whether every block has one whole tile: no loop and no remainder then.
__device__ __forceinline__ bool has_one_tile_each(const ATTUNE_T* in) {
  return gridDim.x == kInputBytes / kTileBytes && attune::bytes_to_vector<kVectorBytes>(attune::address_of(in)) == 0;
}

// As read_share, where has_one_tile_each.
template <class Meanwhile>
__device__ __forceinline__ Candidate read_one_tile(const ATTUNE_T* __restrict__ in, Meanwhile meanwhile) {
  const Address base = attune::address_of(in);
  const Address at = base + static_cast<Address>(blockIdx.x) * kTileBytes + threadIdx.x * kVectorBytes;
  attune::Vector<kVectorBytes> v[kItems];
  load_tile(v, at);
  meanwhile();
  State state;
  add_tile(state, v, 0);
  return resolve(state, true, at, base);
}
#endif

// What this thread makes of its share of the input. `meanwhile` runs once, when the first loads are on their way.
// The loop is turned so that a tile's loads end an iteration and their use begins the next: the assembler cannot move
// the use between them then, as it does otherwise to save registers. Addresses are in bytes and signed (`end` less a
// tile lies below 0 when there is no input); this thread's place in a tile is part of both `at` and `end`.
template <class Meanwhile>
__device__ __forceinline__ Candidate read_share(const ATTUNE_T* __restrict__ in, Index n, Meanwhile meanwhile) {
  const Address base = attune::address_of(in);
  const Address place = threadIdx.x * kVectorBytes;
  const unsigned head = attune::bytes_to_vector<kVectorBytes>(base);
  const Address end = base + static_cast<Address>(n * kElementBytes) + place;
  Address at = base + head + static_cast<Address>(blockIdx.x) * kTileBytes + place;

  Candidate best = Best::identity();
  if (kWidth > 1 && head != 0 && blockIdx.x == gridDim.x - 1)
    if (threadIdx.x * kElementBytes < head && threadIdx.x < n) best = single(in, threadIdx.x);

  State state;
  Address first = at;
  unsigned number = 0;
  attune::Vector<kVectorBytes> v[kItems];
  bool more = at <= end - kTileBytes;
  if (more) load_tile(v, at);
  meanwhile();
#pragma unroll 1
  while (more) {
    add_tile(state, v, number);
    number += kItems;
    at += static_cast<Address>(gridDim.x) * kTileBytes;
    more = at <= end - kTileBytes;
    if (more) load_tile(v, at);
    if (number >= State::kSpan) {
      best = Best::combine(best, resolve(state, true, first, base));
      state = State();
      first = at;
      number = 0;
    }
  }
  bool any = number != 0;
  if (at < end) {  // one block: what does not fill a tile
    const unsigned rest = static_cast<unsigned>(end - at);
    any = any || (threadIdx.x + 1) * kVectorBytes <= rest;
#pragma unroll
    for (unsigned k = 0; k < kItems; ++k)
      if ((k * kBlock + threadIdx.x + 1) * kVectorBytes <= rest) v[k] = attune::load_vector<kVectorBytes>(at + k * kItemBytes);
    if constexpr (kWidth > 1) {
      const unsigned tail = rest % kVectorBytes;
      if (threadIdx.x * kElementBytes < tail)
        best = Best::combine(best, single(in, n - tail / kElementBytes + threadIdx.x));
    }
#pragma unroll
    for (unsigned k = 0; k < kItems; ++k)
      if ((k * kBlock + threadIdx.x + 1) * kVectorBytes <= rest) state.add(v[k], number + k);
  }
  return Best::combine(best, resolve(state, any, first, base));
}
