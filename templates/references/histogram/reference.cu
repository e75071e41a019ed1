// What is right of "histogram", and its samples and edges. Counted as plainly as can be. Arithmetic that a compiler might fuse is spelled
// out, so that the numbers are the same wherever this text is compiled.
#include <attune/reference.cuh>

namespace histogram_reference {

using namespace attune::reference;

/// Over which bins samples are spread. The first five are numbered as the skews of a problem; in the last two nothing counts.
enum Spread { kUniformSpread, kZipf, kHot, kConstant, kSorted, kFirstBin, kLastBin, kTwoBins, kAtUpper, kBelowLower };

/// A position in the range is a number of bins in fixed point, with kFractionBits of fraction, so that data are made without a division.
struct Histogram {
  long long lower;  // of integers
  u64 range;        // upper - lower, at most 2^39
  u64 bins;         // at most 2^24
  u64 pixels;
  u64 numbers_per_bin;  // range / bins with 64 - kFractionBits of fraction, rounded down
  u64 bins_per_pixel;   // a position
  long long lowest;     // of the samples' type
  long long highest;
  float lower_f32;
  float upper_f32;
  float width_f32;  // of a bin
  u32 channels;
  u32 active;
  bool by_edges;
};

/// How samples or edges are made.
struct HistogramData {
  bool edges;
  int spread;
  bool treacherous;
  u64 seed;
};

constexpr int kFractionBits = 40;
constexpr u64 kOneIn = 8;  // samples outside, and as many where their bin begins
constexpr u64 kEqualIn = 16;
constexpr u64 kEdgeSeed = 0x5eed0fed9e5ull;  // edges are the same in every window
constexpr u64 kKindSeed = 0x41d5ull;

__device__ __forceinline__ Histogram histogram_of(int type, long long lower, long long upper, double lower_f32, double upper_f32, u64 bins, u64 pixels,
                                                  u32 channels, u32 active, int mapping) {
  Histogram of;
  of.lower = lower;
  of.range = static_cast<u64>(upper - lower);
  of.bins = bins;
  of.pixels = pixels;
  of.numbers_per_bin = (of.range << (64 - kFractionBits)) / bins;
  // A little below what it is, so that the last pixel's position rounds to no bin too far, nor beyond 64 bits.
  const double most = static_cast<double>(pixels > 0 ? pixels : 1);
  of.bins_per_pixel = static_cast<u64>(__dmul_rn(static_cast<double>(bins) * 1099511627776.0 / most, 1.0 - 0x1p-52));
  of.lowest = type == ATTUNE_TYPE_F32 ? 0 : static_cast<long long>(extend(type, lowest_bits(type)));
  of.highest = type == ATTUNE_TYPE_F32 ? 0 : static_cast<long long>(extend(type, highest_bits(type)));
  of.lower_f32 = static_cast<float>(lower_f32);
  of.upper_f32 = static_cast<float>(upper_f32);
  of.width_f32 = __fdiv_rn(__fsub_rn(of.upper_f32, of.lower_f32), static_cast<float>(bins));
  of.channels = channels;
  of.active = active;
  of.by_edges = mapping == ATTUNE_MAPPING_EDGES;
  return of;
}

__device__ __forceinline__ int spread_of(int data, int group, int skew) {
  switch (data) {
    case ATTUNE_DATA_RANDOM: return skew == ATTUNE_SKEW_UNKNOWN ? group : skew;
    case ATTUNE_DATA_FIRST_BIN: return kFirstBin;
    case ATTUNE_DATA_LAST_BIN: return kLastBin;
    case ATTUNE_DATA_TWO_BINS: return kTwoBins;
    case ATTUNE_DATA_ASCENDING: return kSorted;
    case ATTUNE_DATA_HOT: return kHot;
    case ATTUNE_DATA_AT_UPPER: return kAtUpper;
    case ATTUNE_DATA_BELOW_LOWER: return kBelowLower;
    default: return kUniformSpread;
  }
}

// Integers all go as 64-bit ones.

__device__ __forceinline__ long long load_integer(const void* from, int type, u64 i) { return static_cast<long long>(extend(type, load_bits(from, type, i))); }

// ---- data -------------------------------------------------------------------------------------------------------------

/// floor(fraction / 2^64 * of)
__device__ __forceinline__ u64 share(u64 fraction, u64 of) { return __umul64hi(fraction, of); }

/// The next number below a finite one.
__device__ __forceinline__ float next_below(float x) {
  const int bits = __float_as_int(x);
  if ((bits & 0x7fffffff) == 0) return __int_as_float(static_cast<int>(0x80000001u));
  return __int_as_float(bits < 0 ? bits + 1 : bits - 1);
}

/// The number at a position, for integers as its distance from `lower`.
__device__ __forceinline__ u64 distance_at(const Histogram& of, u64 position) { return __umul64hi(position, of.numbers_per_bin); }
__device__ __forceinline__ float f32_at(const Histogram& of, u64 position) {
  const float bins = static_cast<float>(position) * (1.0f / 1099511627776.0f);
  const float x = __fadd_rn(of.lower_f32, __fmul_rn(bins, of.width_f32));
  return x > of.upper_f32 ? of.upper_f32 : x;
}

/// Samples beyond the type's limits come round again.
__device__ __forceinline__ long long wrapped(const Histogram& of, long long x) {
  if (x >= of.lowest && x <= of.highest) return x;
  const long long last = of.lower + static_cast<long long>(of.range) - 1;
  const long long low = of.lower > of.lowest ? of.lower : of.lowest;
  const long long high = last < of.highest ? last : of.highest;
  if (low > high) return of.lowest;  // no number of the type counts
  return low + static_cast<long long>(static_cast<u64>(x - low) % static_cast<u64>(high - low + 1));
}

__device__ __forceinline__ long long clamped(const Histogram& of, long long x) {
  return x < of.lowest ? of.lowest : x > of.highest ? of.highest : x;
}

/// Where edge i is: anywhere between its even position and the next one's. Only for 0 < i < bins.
__device__ __forceinline__ u64 edge_position(u64 i) {
  return (i << kFractionBits) + (hash(i, kEdgeSeed) >> (64 - kFractionBits));
}
/// Some edges equal the next one.
__device__ __forceinline__ u64 edge_number(const Histogram& of, const HistogramData& data, u64 i) {
  return data.treacherous && i > 0 && i + 1 < of.bins && hash(i, kEdgeSeed + 1) % kEqualIn == 0 ? i + 1 : i;
}
__device__ __forceinline__ long long edge_integer(const Histogram& of, const HistogramData& data, u64 index) {
  const u64 i = edge_number(of, data, index);
  const u64 distance = i == 0 ? 0 : i >= of.bins ? of.range : distance_at(of, edge_position(i));
  return clamped(of, of.lower + static_cast<long long>(distance));
}
__device__ __forceinline__ float edge_f32(const Histogram& of, const HistogramData& data, u64 index) {
  const u64 i = edge_number(of, data, index);
  return i == 0 ? of.lower_f32 : i >= of.bins ? of.upper_f32 : f32_at(of, edge_position(i));
}

/// Where a sample is, by a random number.
__device__ __forceinline__ u64 position_of(const Histogram& of, const HistogramData& data, u64 index, u64 h) {
  constexpr int kShift = 64 - kFractionBits;
  const u64 bins = of.bins, anywhere = share(h, bins) << kFractionBits | (h * bins) >> kShift;
  const u64 pixel = of.channels == 1 ? index : index / of.channels;
  const u64 within = h >> kShift;
  switch (data.spread) {
    case kZipf: {  // every doubling of the bin's number is as likely as any other
      const float u = static_cast<float>(h >> 40) * (1.0f / 16777216.0f);
      const u64 power = static_cast<u64>(exp2f(__fmul_rn(u, log2f(static_cast<float>(bins)))));
      const u64 bin = power < 1 ? 0 : power > bins ? bins - 1 : power - 1;
      return bin << kFractionBits | (h << 24) >> kShift;
    }
    case kHot: return (h & 0xffffffffu) * 10 >> 32 != 0 ? bins / 2 << kFractionBits | within : anywhere;
    case kConstant: return bins / 2 << kFractionBits | within;
    case kSorted: return pixel * of.bins_per_pixel;
    case kFirstBin: return within;
    case kLastBin: return (bins - 1) << kFractionBits | within;
    case kTwoBins: return (pixel & 1 ? bins / 2 : (bins / 2 + 1) % bins) << kFractionBits | within;
    default: return anywhere;
  }
}

__device__ __forceinline__ long long integer_sample(const Histogram& of, const HistogramData& data, u64 position) {
  if (!of.by_edges) return wrapped(of, of.lower + static_cast<long long>(distance_at(of, position)));
  const u64 bin = position >> kFractionBits;
  const long long begin = edge_integer(of, data, bin), end = edge_integer(of, data, bin + 1);
  return begin + static_cast<long long>(share(position << (64 - kFractionBits), static_cast<u64>(end - begin)));
}

__device__ __forceinline__ float f32_sample(const Histogram& of, const HistogramData& data, u64 position) {
  float x = f32_at(of, position), end = of.upper_f32;
  if (of.by_edges) {
    const u64 bin = position >> kFractionBits;
    const float begin = edge_f32(of, data, bin);
    end = edge_f32(of, data, bin + 1);
    const float fraction = static_cast<float>(position & ((1ull << kFractionBits) - 1)) * (1.0f / 1099511627776.0f);
    x = __fadd_rn(begin, __fmul_rn(fraction, __fsub_rn(end, begin)));
    if (begin == end) end = of.upper_f32;  // it belongs to a later bin
  }
  return x < end ? x : next_below(end);
}

/// A number that counts nowhere, or `inside` where the type has none of the kind.
__device__ __forceinline__ long long integer_outside(const Histogram& of, u64 h, long long inside) {
  const long long upper = of.lower + static_cast<long long>(of.range), further = static_cast<long long>(share(h << 8, of.range));
  long long x = of.highest;
  switch (h % 6) {
    case 0: x = of.lower - 1; break;
    case 1: x = of.lower - 1 - further; break;
    case 2: x = upper; break;
    case 3: x = upper + further; break;
    case 4: x = of.lowest; break;
  }
  return x < of.lowest || x > of.highest ? inside : x;
}
__device__ __forceinline__ float f32_outside(const Histogram& of, u64 h) {
  switch (h % 7) {
    case 0: return __int_as_float(0x7fc00000);                     // NaN
    case 1: return __int_as_float(0x7f800000);                     // infinity
    case 2: return __int_as_float(static_cast<int>(0xff800000u));  // and its negative
    case 3: return of.upper_f32;
    case 4: return next_below(of.lower_f32);
    case 5: return __int_as_float(0x7f7fffff);  // the greatest number
    default: return __int_as_float(static_cast<int>(0xff7fffffu));
  }
}

/// A random number for a sample that is no everyday one: kind % kOneIn is 0 outside, 1 where a bin begins.
__device__ __forceinline__ u64 kind_of(const HistogramData& data, u64 h) { return data.treacherous ? hash(h, kKindSeed) : ~0ull; }
__device__ __forceinline__ u64 placed(const Histogram& of, const HistogramData& data, u64 index, u64 h, u64 kind) {
  const u64 position = position_of(of, data, index, h);
  return kind % kOneIn == 1 ? position >> kFractionBits << kFractionBits : position;
}

__device__ __noinline__ long long integer_value(const Histogram& of, const HistogramData& data, u64 index) {
  if (data.edges) return edge_integer(of, data, index);
  if (data.spread == kAtUpper) return wrapped(of, of.lower + static_cast<long long>(of.range));
  if (data.spread == kBelowLower) return wrapped(of, of.lower - 2);
  const u64 h = hash(index, data.seed), kind = kind_of(data, h);
  const u64 position = placed(of, data, index, h, kind);
  const long long inside = integer_sample(of, data, position);
  return kind % kOneIn == 0 ? integer_outside(of, kind / kOneIn, inside) : inside;
}

__device__ __noinline__ float f32_value(const Histogram& of, const HistogramData& data, u64 index) {
  if (data.edges) return edge_f32(of, data, index);
  if (data.spread == kAtUpper) return of.upper_f32;
  if (data.spread == kBelowLower) return of.lower_f32 - 2;
  const u64 h = hash(index, data.seed), kind = kind_of(data, h);
  const float inside = f32_sample(of, data, placed(of, data, index, h, kind));
  return kind % kOneIn == 0 ? f32_outside(of, kind / kOneIn) : inside;
}

/// Element `index` of the samples or the edges.
__device__ __forceinline__ void fill_numbers(const Filling& filling, const Histogram& of, const HistogramData& data) {
  if (filling.type == ATTUNE_TYPE_F32) fill(filling, [&](u64 i) { return static_cast<u64>(static_cast<u32>(__float_as_int(f32_value(of, data, i)))); });
  else fill(filling, [&](u64 i) { return static_cast<u64>(integer_value(of, data, i)); });
}

// ---- counting ---------------------------------------------------------------------------------------------------------

constexpr u64 kNowhere = ~0ull;

/// `below(i)`: whether edge i is no greater than the sample.
template <class F>
__device__ __forceinline__ u64 bin_between(u64 bins, F below) {
  u64 low = 0, high = bins + 1;  // the first edge above it
  while (low < high) {
    const u64 middle = (low + high) / 2;
    if (below(middle)) low = middle + 1;
    else high = middle;
  }
  return low == 0 || low == bins + 1 ? kNowhere : low - 1;
}

__device__ __forceinline__ u64 integer_bin(const Histogram& of, const void* edges, int type, long long x) {
  if (of.by_edges) return bin_between(of.bins, [&](u64 i) { return load_integer(edges, type, i) <= x; });
  const u64 distance = static_cast<u64>(x) - static_cast<u64>(of.lower);
  return x < of.lower || distance >= of.range ? kNowhere : distance * of.bins / of.range;
}

__device__ __forceinline__ u64 f32_bin(const Histogram& of, const float* edges, float x) {
  if (of.by_edges) return bin_between(of.bins, [&](u64 i) { return edges[i] <= x; });
  if (!(x >= of.lower_f32 && x < of.upper_f32)) return kNowhere;
  const float bins = static_cast<float>(of.bins);
  const float product = __fmul_rn(__fsub_rn(x, of.lower_f32), __fdiv_rn(bins, __fsub_rn(of.upper_f32, of.lower_f32)));
  if (!(product >= 1.0f)) return 0;
  return product >= bins ? of.bins - 1 : static_cast<u64>(product);
}

/// What a thread found in one bin, one sample after the other.
struct Run {
  u64 at;
  u64 count;
  double sum;
  double magnitude;
};

__device__ __forceinline__ void add_run(const Run& run, u64* counts, double* sums, double* magnitudes) {
  if (run.count == 0) return;
  atomicAdd(counts + run.at, run.count);
  if (sums == nullptr) return;
  add_double(sums + run.at, run.sum);
  add_double(magnitudes + run.at, run.magnitude);
}

/// How far off a sum of `count` weights in f32 may be, in whatever order they were added. Each addition is off by half a
/// unit in the last place of its result, at most u times the sum of abs(weight), so that n of them are off by n times that in
/// the worst case. Rounding errors go up and down like a random walk: sqrt(n) of it is generous.
__device__ __forceinline__ double allowed_of(double unit, u64 count, double magnitude) {
  return unit * (8.0 + sqrt(static_cast<double>(count))) * magnitude;
}

}  // namespace histogram_reference

extern "C" __global__ void histogram_fill_samples(
    attune::reference::Filling filling, int type, long long lower, long long upper, double lower_f32, double upper_f32, unsigned long long bins,
    unsigned long long pixels, unsigned channels, unsigned active, int mapping, int skew) {
  using namespace histogram_reference;
  const Histogram of = histogram_of(type, lower, upper, lower_f32, upper_f32, bins, pixels, channels, active, mapping);
  fill_numbers(filling, of, HistogramData{false, spread_of(filling.data, filling.group, skew), filling.data == ATTUNE_DATA_INTEGERS, filling.seed});
}

extern "C" __global__ void histogram_fill_edges(
    attune::reference::Filling filling, int type, long long lower, long long upper, double lower_f32, double upper_f32, unsigned long long bins,
    unsigned long long pixels, unsigned channels, unsigned active, int mapping) {
  using namespace histogram_reference;
  const Histogram of = histogram_of(type, lower, upper, lower_f32, upper_f32, bins, pixels, channels, active, mapping);
  fill_numbers(filling, of, HistogramData{true, kUniformSpread, filling.data == ATTUNE_DATA_INTEGERS, filling.seed});
}

/// Adds to tallies, which are zero before, and of weighted samples to `sums` and `magnitudes`. Samples of one bin behind each other are
/// added together, or samples that are all alike would take a second.
extern "C" __global__ void histogram_tally(
    const void* samples, const void* edges, const float* all_weights, int type, long long lower, long long upper, double lower_f32, double upper_f32, unsigned long long bins,
    unsigned long long pixels, unsigned channels, unsigned active, int mapping, int weighted,
    unsigned long long* tallies, double* all_sums, double* all_magnitudes) {
  using namespace histogram_reference;
  const Histogram of = histogram_of(type, lower, upper, lower_f32, upper_f32, bins, pixels, channels, active, mapping);
  const float* const weights = weighted ? all_weights : nullptr;
  double* const sums = weighted ? all_sums : nullptr;
  double* const magnitudes = weighted ? all_magnitudes : nullptr;
  Run run{0, 0, 0.0, 0.0};
  for (u64 i = thread_index(); i < of.pixels * of.channels; i += thread_count()) {
    const u64 channel = of.channels == 1 ? 0 : i % of.channels;
    if (channel >= of.active) continue;
    const u64 bin = type == ATTUNE_TYPE_F32 ? f32_bin(of, static_cast<const float*>(edges), static_cast<const float*>(samples)[i])
                                     : integer_bin(of, edges, type, load_integer(samples, type, i));
    if (bin == kNowhere) continue;
    const u64 at = channel * of.bins + bin;
    if (at != run.at) {
      add_run(run, tallies, sums, magnitudes);
      run = Run{at, 0, 0.0, 0.0};
    }
    run.count += 1;
    if (weights == nullptr) continue;
    run.sum += weights[i];
    run.magnitude += fabs(static_cast<double>(weights[i]));
  }
  add_run(run, tallies, sums, magnitudes);
}

extern "C" __global__ void histogram_expect(unsigned long long count, int weighted, int data, const unsigned long long* tallies, const double* sums,
                                            const double* magnitudes, attune::reference::Expected* counts) {
  using namespace histogram_reference;
  const double unit = data == ATTUNE_DATA_RANDOM ? unit_roundoff(ATTUNE_TYPE_F32) : 0.0;
  for (u64 i = thread_index(); i < count; i += thread_count())
    counts[i] = weighted ? about(sums[i], allowed_of(unit, tallies[i], magnitudes[i])) : exactly(tallies[i]);
}
