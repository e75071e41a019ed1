// How a thread loads its share of the input.

struct Vector {
  unsigned word[kVectorWords];
};

// Volatile, so that the compiler keeps the loads of a tile together and ahead of their use.
__device__ __forceinline__ Vector load_vector(Address at) {
  Vector v;
  if constexpr (kVectorBytes == 16)
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
                 : "l"(at));
  else if constexpr (kVectorBytes == 8)
    asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(v.word[0]), "=r"(v.word[1]) : "l"(at));
  else if constexpr (kVectorBytes == 4)
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(v.word[0]) : "l"(at));
  else if constexpr (kVectorBytes == 2)
    asm volatile("ld.global.u16 %0, [%1];" : "=r"(v.word[0]) : "l"(at));
  else
    asm volatile("ld.global.u8 %0, [%1];" : "=r"(v.word[0]) : "l"(at));
  return v;
}

// A thread's running state: one accumulator for each element of a vector, so that additions do not wait for each other.
struct Lanes {
  Accumulator lane[kWidth];

  __device__ __forceinline__ explicit Lanes(Accumulator first) {
    lane[0] = first;
#pragma unroll
    for (unsigned k = 1; k < kWidth; ++k) lane[k] = identity();
  }
  __device__ __forceinline__ static Accumulator element(const Vector& v, unsigned k) {
    if constexpr (sizeof(Element) == 8) return Math::value(static_cast<Word>(v.word[2 * k + 1]) << 32 | v.word[2 * k]);
    else return Math::value(v.word[k]);
  }
  __device__ __forceinline__ void add(const Vector& v) {
#pragma unroll
    for (unsigned k = 0; k < kWidth; ++k) lane[k] = combine(lane[k], element(v, k));
  }
  __device__ __forceinline__ Accumulator total() const {
    Accumulator x[kWidth];
#pragma unroll
    for (unsigned k = 0; k < kWidth; ++k) x[k] = lane[k];
#pragma unroll
    for (unsigned half = kWidth / 2; half > 0; half /= 2)
#pragma unroll
      for (unsigned k = 0; k < half; ++k) x[k] = combine(x[k], x[k + half]);
    return x[0];
  }
};

// The same for i8: four elements of a word at a time. Sums are 32-bit; minima and maxima stay packed bytes.
struct PackedLanes {
  // What fills a word that holds fewer than four elements, and what minima and maxima start from.
  static constexpr unsigned kIdle = kOp == Op::Sum ? 0u : kOp == Op::Min ? 0x7f7f7f7fu : 0x80808080u;
  static constexpr unsigned kPadding = kVectorBytes < 4 ? kIdle << 8 * (kVectorBytes % 4) : 0u;
  unsigned lane[kVectorWords];

  __device__ __forceinline__ explicit PackedLanes(Accumulator first) {
    lane[0] = kOp == Op::Sum ? static_cast<unsigned>(first) : kIdle << 8 | (static_cast<unsigned>(first) & 0xffu);
#pragma unroll
    for (unsigned k = 1; k < kVectorWords; ++k) lane[k] = kIdle;
  }
  __device__ __forceinline__ void add(const Vector& v) {
#pragma unroll
    for (unsigned k = 0; k < kVectorWords; ++k) {
      const unsigned word = v.word[k] | kPadding;
      if constexpr (kOp == Op::Sum)
        lane[k] = static_cast<unsigned>(__dp4a(static_cast<int>(word), 0x01010101, static_cast<int>(lane[k])));
      else if constexpr (kOp == Op::Min) lane[k] = __vmins4(lane[k], word);
      else lane[k] = __vmaxs4(lane[k], word);
    }
  }
  __device__ __forceinline__ Accumulator total() const {
    Accumulator x = identity();
#pragma unroll
    for (unsigned k = 0; k < kVectorWords; ++k) {
      if constexpr (kOp == Op::Sum) {
        x = combine(x, static_cast<Accumulator>(lane[k]));
      } else {
#pragma unroll
        for (unsigned byte = 0; byte < 4; ++byte) x = combine(x, static_cast<signed char>(lane[k] >> 8 * byte));
      }
    }
    return x;
  }
};

template <bool Packed>
struct ChooseLanes {
  using Type = Lanes;
};
template <>
struct ChooseLanes<true> {
  using Type = PackedLanes;
};

__device__ __forceinline__ void load_tile(Vector (&v)[kItems], Address at) {
#pragma unroll
  for (unsigned k = 0; k < kItems; ++k) v[k] = load_vector(at + k * (kBlock * kVectorBytes));
}

template <class L>
__device__ __forceinline__ void add_tile(L& lanes, const Vector (&v)[kItems]) {
#pragma unroll
  for (unsigned k = 0; k < kItems; ++k) lanes.add(v[k]);
}

// What this thread makes of its share of the input. `meanwhile` runs once, when the first loads are on their way.
// The loop is turned so that a tile's loads end an iteration and their use begins the next: the assembler cannot move
// the use between them then, as it does otherwise to save registers. Few instructions stand before the first load, since
// they take a measurable part of a small reduction's time. Addresses are in bytes and signed (`end` less a tile lies
// below 0 when there is no input); this thread's place in a tile is part of both `at` and `end`.
template <class Meanwhile>
__device__ __forceinline__ Accumulator read_share(const Element* __restrict__ in, Index n, Meanwhile meanwhile) {
  const Address place = threadIdx.x * kVectorBytes;
  const unsigned head = static_cast<unsigned>(-reinterpret_cast<Address>(in)) & (kVectorBytes - 1);
  const Address end = reinterpret_cast<Address>(in) + static_cast<Address>(n * sizeof(Element)) + place;
  Address at = reinterpret_cast<Address>(in) + head + static_cast<Address>(blockIdx.x) * kTileBytes + place;

  Accumulator first = identity();
  if (kWidth > 1 && head != 0 && blockIdx.x == gridDim.x - 1)
    if (threadIdx.x * sizeof(Element) < head && threadIdx.x < n) first = in[threadIdx.x];
  typename ChooseLanes<kBytes>::Type lanes(first);

  Vector v[kItems];
  bool more = at <= end - kTileBytes;
  if (more) load_tile(v, at);
  meanwhile();
#pragma unroll 1
  while (more) {
    add_tile(lanes, v);
    at += static_cast<Address>(gridDim.x) * kTileBytes;
    more = at <= end - kTileBytes;
    if (more) load_tile(v, at);
  }
  Accumulator last = identity();
  if (at < end) {  // one block: what does not fill a tile
    const unsigned rest = static_cast<unsigned>(end - at);
#pragma unroll
    for (unsigned k = 0; k < kItems; ++k)
      if ((k * kBlock + threadIdx.x + 1) * kVectorBytes <= rest) v[k] = load_vector(at + k * (kBlock * kVectorBytes));
    if constexpr (kWidth > 1) {
      const unsigned tail = rest % kVectorBytes;
      if (threadIdx.x * sizeof(Element) < tail) last = in[n - tail / sizeof(Element) + threadIdx.x];
    }
#pragma unroll
    for (unsigned k = 0; k < kItems; ++k)
      if ((k * kBlock + threadIdx.x + 1) * kVectorBytes <= rest) lanes.add(v[k]);
  }
  return combine(lanes.total(), last);
}
