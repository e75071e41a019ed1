// Continues support.cu, with which it is compiled: reducing everything in double precision or exact integers.

constexpr u32 kReduceThreads = 256;

/// One block's share of a reduction: measure::Totals. Minimum and maximum are order-preserving images (see ordered()).
struct Partial {
  double sum;
  double lost;       // what rounding took from `sum`
  double magnitude;  // sum of |x|
  double product;
  u64 integer_sum;  // these modulo 2^64
  u64 integer_product;
  u64 conjunction;
  u64 disjunction;
  u64 parity;
  u64 minimum;
  u64 maximum;
};

enum Transform { kIdentity, kAbsolute, kSquare, kShiftedSquare, kTimes };  // numbered as measure::Transform

/// What an element contributes to a reduction.
struct Mapping {
  int transform;
  int integer_bits;      // of the results' integers; 0: results are doubles
  int integer_signed;
  double shift;
  u64 integer_shift;
};

__device__ __forceinline__ Partial no_elements() { return Partial{0.0, 0.0, 0.0, 1.0, 0, 1, ~0ull, 0, 0, ~0ull, 0}; }

/// The sum is rounded, and what rounding took is exact (Knuth): together they have twice the digits.
__device__ __forceinline__ void combine(Partial& a, const Partial& b) {
  const double sum = __dadd_rn(a.sum, b.sum);
  const double added = __dsub_rn(sum, a.sum);
  a.lost += __dadd_rn(__dsub_rn(a.sum, __dsub_rn(sum, added)), __dsub_rn(b.sum, added)) + b.lost;
  a.sum = sum;
  a.magnitude += b.magnitude;
  a.product *= b.product;
  a.integer_sum += b.integer_sum;
  a.integer_product *= b.integer_product;
  a.conjunction &= b.conjunction;
  a.disjunction |= b.disjunction;
  a.parity ^= b.parity;
  a.minimum = b.minimum < a.minimum ? b.minimum : a.minimum;
  a.maximum = b.maximum > a.maximum ? b.maximum : a.maximum;
}

/// Not contracted with what follows: the rounded products are what is summed.
__device__ __forceinline__ double transformed(double x, double y, const Mapping& mapping) {
  const double d = __dsub_rn(x, mapping.shift);
  switch (mapping.transform) {
    case kAbsolute: return fabs(x);
    case kSquare: return __dmul_rn(x, x);
    case kShiftedSquare: return __dmul_rn(d, d);
    case kTimes: return __dmul_rn(x, y);
    default: return x;
  }
}

/// Modulo 2^integer_bits, extended to 64 bits.
__device__ __forceinline__ u64 transformed(u64 x, u64 y, bool negative, const Mapping& mapping) {
  const u64 d = x - mapping.integer_shift;
  switch (mapping.transform) {
    case kAbsolute: x = negative ? 0 - x : x; break;
    case kSquare: x *= x; break;
    case kShiftedSquare: x = d * d; break;
    case kTimes: x *= y; break;
  }
  const int unused = 64 - mapping.integer_bits;
  x <<= unused;
  return mapping.integer_signed ? static_cast<u64>(static_cast<long long>(x) >> unused) : x >> unused;
}

/// One element as a reduction of its own.
template <class T>
__device__ __forceinline__ Partial term(T x, T y, const Mapping& mapping) {
  Partial one = no_elements();
  if constexpr (!Element<T>::kFloating) {
    if (mapping.integer_bits > 0) {
      const u64 value = transformed(static_cast<u64>(static_cast<long long>(x)), static_cast<u64>(static_cast<long long>(y)),
                                    Element<T>::kSigned && x < T(0), mapping);
      one.integer_sum = one.integer_product = one.conjunction = one.disjunction = one.parity = value;
      one.minimum = one.maximum = mapping.integer_signed ? ordered(static_cast<long long>(value)) : ordered(value);
      return one;
    }
  }
  const double value = transformed(Element<T>::to_double(x), Element<T>::to_double(y), mapping);
  one.sum = one.product = value;
  one.magnitude = fabs(value);
  if (value == value) one.minimum = one.maximum = ordered(value);  // extremes pass over NaN
  return one;
}

/// What one thread has of a reduction: every `stride`th element from `first` on.
__device__ __forceinline__ Partial share_of_thread(const void* source, const void* other, u64 count, int type,
                                                   const Mapping& mapping, u64 first, u64 stride) {
  Partial mine = no_elements();
  with_type(type, [&](auto tag) {
    typedef typename decltype(tag)::Type T;
    const T* const in = static_cast<const T*>(source);
    const T* const second = static_cast<const T*>(mapping.transform == kTimes ? other : source);
    for (u64 i = first; i < count; i += stride) combine(mine, term(in[i], second[i], mapping));
  });
  return mine;
}

/// One Partial a block, in an order fixed by count and grid: the reference is the same in every run. `other`: of kTimes.
extern "C" __global__ void attune_reduce(const void* source, const void* other, u64 count, int type, Mapping mapping,
                                         Partial* partials) {
  __shared__ Partial shared[kReduceThreads];
  shared[threadIdx.x] = share_of_thread(source, other, count, type, mapping, thread_index(), thread_count());
  __syncthreads();
  for (u32 half = kReduceThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) combine(shared[threadIdx.x], shared[threadIdx.x + half]);
    __syncthreads();
  }
  if (threadIdx.x == 0) partials[blockIdx.x] = shared[0];
}
