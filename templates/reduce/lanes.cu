// What a thread loads, and what it makes of it.

// The inputs' addresses, in bytes. Two inputs are read by vectors together where one alignment fits both; otherwise the
// second is read element by element.
struct Source {
  Address in;
  Address other;
  bool together;
};

__device__ __forceinline__ Source source_of(const In* in, const In* other) {
  const Address a = attune::address_of(in), b = attune::address_of(other);
  return {a, b, !kTwoInputs || ((a ^ b) & (kVectorBytes - 1)) == 0};
}

// One vector of each input.
struct Loaded {
  Vector x;
#if ATTUNE_TRANSFORM_TIMES
  Vector y;
#endif
};

#if ATTUNE_TRANSFORM_TIMES
// A vector of the second input whose elements are aligned to themselves only.
template <class Bits>
__device__ __forceinline__ Vector load_unaligned(Address at) {
  Vector v;
#pragma unroll
  for (unsigned k = 0; k < Vector::kWords; ++k) v.word[k] = 0;
#pragma unroll
  for (unsigned k = 0; k < kWidth; ++k) {
    const Bits bits = reinterpret_cast<const Bits*>(at)[k];
    if constexpr (sizeof(Bits) == 8) {
      v.word[2 * k] = static_cast<unsigned>(bits);
      v.word[2 * k + 1] = static_cast<unsigned>(bits >> 32);
    } else {
      constexpr unsigned kPerWord = 4 / sizeof(Bits);
      v.word[k / kPerWord] |= static_cast<unsigned>(bits) << 8 * sizeof(Bits) * (k % kPerWord);
    }
  }
  return v;
}
#endif

// `at`: an address in the first input.
__device__ __forceinline__ Loaded load(const Source& source, Address at) {
  Loaded v;
  v.x = attune::load_vector<kVectorBytes>(at);
#if ATTUNE_TRANSFORM_TIMES
  const Address there = source.other + (at - source.in);
  if (source.together) v.y = attune::load_vector<kVectorBytes>(there);
  else v.y = load_unaligned<attune::Element<In>::Bits>(there);
#endif
  return v;
}

// The same where `there` says so; else what changes nothing, where there is such an element.
__device__ __forceinline__ Loaded load_if(bool there, const Source& source, Address at) {
  Loaded v;
  v.x = attune::filled<In, kVectorBytes>(neutral());
  attune::load_vector_if(there, at, v.x);
#if ATTUNE_TRANSFORM_TIMES
  const Address other = source.other + (at - source.in);
  v.y = attune::filled<In, kVectorBytes>(neutral());
  if (source.together) attune::load_vector_if(there, other, v.y);
  else if (there) v.y = load_unaligned<attune::Element<In>::Bits>(other);
#endif
  return v;
}

__device__ __forceinline__ Value load_one(const Source& source, Index i, const Scalars& scalars) {
  return load_one(reinterpret_cast<const In*>(source.in), reinterpret_cast<const In*>(source.other), i, scalars);
}

// A thread's running state: several accumulators, so that additions do not wait for each other.
struct Lanes {
  static constexpr unsigned kLanes = kWidth < 4 ? kWidth : 4;
  Value lane[kLanes];

  __device__ __forceinline__ explicit Lanes(Value first) {
    lane[0] = first;
#pragma unroll
    for (unsigned k = 1; k < kLanes; ++k) lane[k] = Op::identity();
  }
  __device__ __forceinline__ void add(const Loaded& v, const Scalars& scalars) {
#pragma unroll
    for (unsigned k = 0; k < kWidth; ++k) {
      const Value x = attune::element<In, kVectorBytes>(v.x, k);
#if ATTUNE_TRANSFORM_TIMES
      const Value y = attune::element<In, kVectorBytes>(v.y, k);
#else
      const Value y{0};
#endif
      lane[k % kLanes] = Op::combine(lane[k % kLanes], mapped(x, y, scalars));
    }
  }
  __device__ __forceinline__ Value total() const {
    Value x[kLanes];
#pragma unroll
    for (unsigned k = 0; k < kLanes; ++k) x[k] = lane[k];
#pragma unroll
    for (unsigned half = kLanes / 2; half > 0; half /= 2)
#pragma unroll
      for (unsigned k = 0; k < half; ++k) x[k] = Op::combine(x[k], x[k + half]);
    return x[0];
  }
};

// The same for 8-bit elements as they are: four of a word at a time. Sums are 32-bit; minima, maxima and bits stay packed.
#define PACKED_OPS (ATTUNE_OP_SUM || ATTUNE_OP_MIN || ATTUNE_OP_MAX || ATTUNE_OP_AND || ATTUNE_OP_OR || ATTUNE_OP_XOR)
constexpr bool kPacked = sizeof(In) == 1 && ATTUNE_TRANSFORM_IDENTITY && PACKED_OPS;

struct PackedLanes {
  static constexpr bool kSigned = attune::Element<In>::kSigned;
  static constexpr unsigned kLanes = Vector::kWords;
  // What minima and the like start from, and what fills a word that holds fewer than four elements.
  static constexpr unsigned kIdle = ATTUNE_OP_MIN   ? (kSigned ? 0x7f7f7f7fu : 0xffffffffu)
                                    : ATTUNE_OP_MAX ? (kSigned ? 0x80808080u : 0u)
                                    : ATTUNE_OP_AND ? 0xffffffffu
                                                    : 0u;
  static constexpr unsigned kPadding = kVectorBytes < 4 ? kIdle << 8 * (kVectorBytes % 4) : 0u;
  unsigned lane[kLanes];

  __device__ __forceinline__ explicit PackedLanes(Value first) {
    lane[0] = ATTUNE_OP_SUM ? static_cast<unsigned>(first) : (kIdle & ~0xffu) | (static_cast<unsigned>(first) & 0xffu);
#pragma unroll
    for (unsigned k = 1; k < kLanes; ++k) lane[k] = kIdle;
  }
  __device__ __forceinline__ static unsigned combine(unsigned a, unsigned word) {
#if ATTUNE_OP_SUM
    if constexpr (kSigned) return static_cast<unsigned>(__dp4a(static_cast<int>(word), 0x01010101, static_cast<int>(a)));
    else return __dp4a(word, 0x01010101u, a);
#elif ATTUNE_OP_MIN
    return kSigned ? __vmins4(a, word) : __vminu4(a, word);
#elif ATTUNE_OP_MAX
    return kSigned ? __vmaxs4(a, word) : __vmaxu4(a, word);
#elif ATTUNE_OP_AND
    return a & word;
#elif ATTUNE_OP_OR
    return a | word;
#else
    return a ^ word;
#endif
  }
  __device__ __forceinline__ void add(const Loaded& v, const Scalars&) {
#pragma unroll
    for (unsigned k = 0; k < kLanes; ++k) lane[k] = combine(lane[k], v.x.word[k] | kPadding);
  }
  __device__ __forceinline__ Value total() const {
    Value x = Op::identity();
#pragma unroll
    for (unsigned k = 0; k < kLanes; ++k) {
#if ATTUNE_OP_SUM
      x = Op::combine(x, static_cast<Value>(lane[k]));
#else
#pragma unroll
      for (unsigned byte = 0; byte < 4; ++byte)
        x = Op::combine(x, attune::Element<In>::widen(static_cast<attune::Element<In>::Bits>(lane[k] >> 8 * byte)));
#endif
    }
    return x;
  }
};

template <bool Packed>
struct ChooseState {
  using Type = Lanes;
};
template <>
struct ChooseState<true> {
  using Type = PackedLanes;
};
using State = ChooseState<kPacked>::Type;

// n, which the compiler knows where the code is specialised on it.
__device__ __forceinline__ constexpr Index count_of(Index n) {
#ifdef ATTUNE_N
  return ATTUNE_N;
#else
  return n;
#endif
}
