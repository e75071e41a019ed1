// Even bins: the bin of x is (x - lower) * bins / (upper - lower), rounded down, as cub::DeviceHistogram::HistogramEven has it.

namespace {

/// d * bins / range without a division: bins / range is whole + fraction / 2^64, the fraction rounded up. Exact for any
/// d < range <= 2^32: the error d / 2^64 of the product stays below 1 / range, which the next integer is away at least.
struct Scale {
  unsigned whole;
  unsigned long long fraction;
};

/// To within a few units in the last place, in line: a division's call costs a cold kernel another fetch of code.
__device__ __forceinline__ double reciprocal_of(double x) {
  double y;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));  // some 19 bits; each step doubles them
#pragma unroll
  for (int step = 0; step < 2; ++step) y = fma(y, fma(-x, y, 1.0), y);
  return y;
}

/// Requires: range <= 2^32. Quotients below 2^32 by a reciprocal in double precision are at most one off.
__device__ Scale scale_of(unsigned bins, unsigned long long range) {
  const double inverse = reciprocal_of(static_cast<double>(range));
  const auto divide = [&](unsigned long long dividend, unsigned long long& rest) {
    auto quotient = static_cast<unsigned long long>(static_cast<double>(dividend) * inverse);
    auto left = static_cast<long long>(dividend - quotient * range);
    if (left < 0) {
      --quotient;
      left += static_cast<long long>(range);
    } else if (left >= static_cast<long long>(range)) {
      ++quotient;
      left -= static_cast<long long>(range);
    }
    rest = static_cast<unsigned long long>(left);
    return quotient;
  };
  unsigned long long rest, left;
  const auto whole = static_cast<unsigned>(divide(bins, rest));
  const unsigned long long high = divide(rest << 32, left);
  const unsigned long long low = divide(left << 32, left);
  return {whole, (high << 32 | low) + (left != 0)};
}

__device__ __forceinline__ unsigned scaled(const Scale& scale, unsigned d) {
  const unsigned long long high = static_cast<unsigned long long>(d) * static_cast<unsigned>(scale.fraction >> 32);
  return d * scale.whole + static_cast<unsigned>((high + __umulhi(d, static_cast<unsigned>(scale.fraction))) >> 32);
}

}  // namespace

#if ATTUNE_T_F32

/// In single precision, like CUB. A product that rounding lifts to `bins` counts in the last bin; CUB would write behind it.
struct Mapping {
  struct Scratch {};
  float lower, upper, scale;
  unsigned last;

  static __device__ void prepare(const Problem&, Scratch&, unsigned*) {}
  __device__ Mapping(const Problem& p, const Scratch&, const unsigned*)
      : lower(p.lower), upper(p.upper), scale(__fdiv_rn(static_cast<float>(p.bins), __fsub_rn(p.upper, p.lower))), last(p.bins - 1) {}
  __device__ unsigned bin(Bits bits) const {
    const float x = __uint_as_float(bits);
    if (!(x >= lower && x < upper)) return kNone;
    return min(static_cast<unsigned>(__fmul_rn(__fsub_rn(x, lower), scale)), last);
  }
  template <unsigned N>
  __device__ void all(const Bits (&bits)[N], unsigned (&bins)[N]) const {
#pragma unroll
    for (unsigned k = 0; k < N; ++k) bins[k] = bin(bits[k]);
  }
};

#else

/// Requires: of 32-bit samples, bounds that such a sample can have; `upper` may be one above.
struct Mapping {
  struct Scratch {
    Scale scale;
  };
  unsigned base;   ///< lower, modulo 2^32
  unsigned last;   ///< the greatest distance from it that counts
  unsigned shift;  ///< of bins 2^shift wide
  Scale scale;

  static __device__ void prepare(const Problem& p, Scratch& scratch, unsigned*) {
    // One thread, while loads are under way.
    if (ATTUNE_MAPPING_SCALED && threadIdx.x == 0) scratch.scale = scale_of(p.bins, static_cast<unsigned long long>(static_cast<long long>(p.upper) - p.lower));
  }
  __device__ Mapping(const Problem& p, const Scratch& scratch, const unsigned*)
      : base(static_cast<unsigned>(p.lower)), last(static_cast<unsigned>(static_cast<long long>(p.upper) - p.lower - 1)) {
    if constexpr (ATTUNE_MAPPING_SCALED) scale = scratch.scale;
    if constexpr (ATTUNE_MAPPING_SHIFT) shift = 32 - __clz(last / p.bins);  // the quotient is 2^shift - 1
  }
  __device__ unsigned bin(Bits bits) const {
    // Below `lower` the difference wraps to more than any distance that counts.
    const unsigned d = static_cast<unsigned>(attune::Element<T>::widen(bits)) - base;
    if constexpr (ATTUNE_MAPPING_UNIT) return d;
    if (d > last) return kNone;
    if constexpr (ATTUNE_MAPPING_SHIFT) return __funnelshift_rc(d, 0, shift);  // by up to 32
    return scaled(scale, d);
  }
  template <unsigned N>
  __device__ void all(const Bits (&bits)[N], unsigned (&bins)[N]) const {
#pragma unroll
    for (unsigned k = 0; k < N; ++k) bins[k] = bin(bits[k]);
  }
};

#endif

/// The bin of one sample, exactly, also of bounds that samples cannot have: for bytes, whose counts are merged by it.
__device__ __noinline__ unsigned bin_of_value(const Problem& p, unsigned value) {
  const long long d = static_cast<long long>(value) - static_cast<long long>(p.lower);
  const long long range = static_cast<long long>(p.upper) - static_cast<long long>(p.lower);
  if (d < 0 || d >= range) return kNone;
  return static_cast<unsigned>(static_cast<unsigned long long>(d) * p.bins / static_cast<unsigned long long>(range));
}

/// Whether byte v is bin v, for all of them.
__device__ __forceinline__ bool values_are_bins(const Problem& p) { return p.bins == 256 && p.lower == Level(0) && p.upper == Level(256); }

/// Whether there is anything to count.
__device__ __forceinline__ bool has_bins(const Problem& p) { return p.lower < p.upper; }
