// Continues support.cu, with which it is compiled: the samples and edges of a histogram, counting them as plainly as can be,
// and comparing. Without barriers, so that any number of threads gives the same answer. Arithmetic that a compiler might
// fuse is spelled out: filling and checking are two kernels and must make the same number.

/// Numbered as measure::HistogramPart and measure::Spread.
enum HistogramPart { kSamples, kEdges };
enum Spread { kUniformSpread, kZipf, kHot, kConstant, kSorted, kFirstBin, kLastBin, kTwoBins };

/// As in support_histogram.cpp.
struct Histogram {
  long long lower;  // of integers
  u64 range;        // upper - lower; times `bins` it has a bit to spare in 64
  u64 bins;
  u64 pixels;
  float lower_f32;
  float upper_f32;
  u32 channels;
  u32 active;
  int by_edges;
};

struct HistogramData {  // as there
  int part;
  int spread;
  int treacherous;
  u64 seed;
};

constexpr u64 kOneIn = 8;  // samples outside, and as many where their bin begins
constexpr u64 kEqualIn = 16;
constexpr u64 kEdgeSeed = 0x5eed0fed9e5ull;  // edges are the same in every window
constexpr u64 kFractionSeed = 0xf7ac710full, kKindSeed = 0x41d5ull, kHotSeed = 0x40717ull;

template <class F>
__device__ __forceinline__ void with_sample(int type, F f) {
  switch (type) {
    case 0: f(Tag<signed char>()); break;
    case 1: f(Tag<unsigned char>()); break;
    case 2: f(Tag<short>()); break;
    case 3: f(Tag<unsigned short>()); break;
    case 4: f(Tag<int>()); break;
    case 5: f(Tag<unsigned int>()); break;
    case 10: f(Tag<float>()); break;
  }
}

// ---- data -------------------------------------------------------------------------------------------------------------

/// floor(fraction / 2^64 * of)
__device__ __forceinline__ u64 share(u64 fraction, u64 of) { return __umul64hi(fraction, of); }
__device__ __forceinline__ double unit_fraction(u64 fraction) {  // in [0, 1)
  return static_cast<double>(fraction >> 11) * (1.0 / 9007199254740992.0);
}

/// The next number below a finite one.
__device__ __forceinline__ float next_below(float x) {
  const int bits = __float_as_int(x);
  if ((bits & 0x7fffffff) == 0) return __int_as_float(static_cast<int>(0x80000001u));
  return __int_as_float(bits < 0 ? bits + 1 : bits - 1);
}

template <class T> struct SampleLimits {  // integers of at most 32 bits
  static constexpr u64 kHalf = 1ull << (8 * sizeof(T) - 1);
  static constexpr long long kLowest = Element<T>::kSigned ? -static_cast<long long>(kHalf) : 0;
  static constexpr long long kHighest = static_cast<long long>(Element<T>::kSigned ? kHalf - 1 : 2 * kHalf - 1);
};

/// Of samples: those beyond the type's limits come round again.
template <class T>
__device__ __forceinline__ T wrapped_between(const Histogram& of, long long x) {
  const long long last = of.lower + static_cast<long long>(of.range) - 1;
  const long long low = of.lower > SampleLimits<T>::kLowest ? of.lower : SampleLimits<T>::kLowest;
  const long long high = last < SampleLimits<T>::kHighest ? last : SampleLimits<T>::kHighest;
  if (low > high) return static_cast<T>(0);  // no number of the type counts
  if (x >= low && x <= high) return static_cast<T>(x);
  return static_cast<T>(low + static_cast<long long>(static_cast<u64>(x - low) % static_cast<u64>(high - low + 1)));
}

template <class T>
__device__ __forceinline__ T clamped(long long x) {
  if (x < SampleLimits<T>::kLowest) return static_cast<T>(SampleLimits<T>::kLowest);
  return static_cast<T>(x > SampleLimits<T>::kHighest ? SampleLimits<T>::kHighest : x);
}

__device__ __forceinline__ double width_of(const Histogram& of) {
  return __ddiv_rn(__dsub_rn(of.upper_f32, of.lower_f32), static_cast<double>(of.bins));
}
__device__ __forceinline__ float even_f32(const Histogram& of, u64 bin, u64 fraction) {
  const double bins = __dadd_rn(static_cast<double>(bin), unit_fraction(fraction));
  const float x = static_cast<float>(__dadd_rn(of.lower_f32, __dmul_rn(bins, width_of(of))));
  return x < of.lower_f32 ? of.lower_f32 : x;
}

/// Ascending from `lower` to `upper`: each stands anywhere between its even position and the next one's.
template <class T>
__device__ __forceinline__ T edge_at(const Histogram& of, u64 i, bool treacherous) {
  const u64 h = hash(i, kEdgeSeed);
  if (treacherous && i > 0 && i + 1 < of.bins && h % kEqualIn == 0) ++i;
  const u64 fraction = i == 0 || i >= of.bins ? 0 : hash(i, kEdgeSeed + 1);
  if constexpr (Element<T>::kFloating) {
    if (i >= of.bins) return of.upper_f32;
    const float x = even_f32(of, i, fraction);
    return x > of.upper_f32 ? of.upper_f32 : x;
  } else {
    const u64 begin = i * of.range / of.bins;
    const u64 end = i >= of.bins ? begin : (i + 1) * of.range / of.bins;
    return clamped<T>(of.lower + static_cast<long long>(begin + share(fraction, end - begin)));
  }
}

/// A bin, and where in it.
struct Place {
  u64 bin;
  u64 fraction;  // of 2^64
};

__device__ __forceinline__ Place place_of(const Histogram& of, const HistogramData& data, u64 index, u64 h) {
  const u64 bins = of.bins, pixel = index / of.channels;
  Place place{share(h, bins), hash(h, kFractionSeed)};
  switch (data.spread) {
    case kZipf: {  // every doubling of the bin's number is as likely as any other
      const float u = static_cast<float>(h >> 40) * (1.0f / 16777216.0f);
      const u64 power = static_cast<u64>(exp2f(__fmul_rn(u, log2f(static_cast<float>(bins)))));
      place.bin = power < 1 ? 0 : power > bins ? bins - 1 : power - 1;
      break;
    }
    case kHot:
      if (share(hash(h, kHotSeed), 10) != 0) place.bin = bins / 2;
      break;
    case kConstant: place.bin = bins / 2; break;
    case kSorted: {  // fewer than 2^40 pixels and at most 2^24 bins
      place.bin = pixel * bins / of.pixels;
      place.fraction = ((pixel * bins % of.pixels << 23) / of.pixels) << 41;
      break;
    }
    case kFirstBin: place.bin = 0; break;
    case kLastBin: place.bin = bins - 1; break;
    case kTwoBins: place.bin = pixel & 1 ? bins / 2 : (bins / 2 + 1) % bins; break;
  }
  return place;
}

template <class T>
__device__ __forceinline__ T sample_at(const Histogram& of, const Place& place, bool treacherous) {
  if constexpr (Element<T>::kFloating) {
    float x = even_f32(of, place.bin, place.fraction), end = of.upper_f32;
    if (of.by_edges) {
      const float begin = edge_at<T>(of, place.bin, treacherous);
      end = edge_at<T>(of, place.bin + 1, treacherous);
      x = static_cast<float>(__dadd_rn(begin, __dmul_rn(unit_fraction(place.fraction), __dsub_rn(end, begin))));
      if (begin == end) end = of.upper_f32;  // it belongs to a later bin
    }
    return x < end ? x : next_below(end);
  } else {
    if (of.by_edges) {
      const long long begin = edge_at<T>(of, place.bin, treacherous), end = edge_at<T>(of, place.bin + 1, treacherous);
      return static_cast<T>(begin + static_cast<long long>(share(place.fraction, static_cast<u64>(end - begin))));
    }
    // The part of the range that is the bin's, rounded down, but no lower than its first number.
    const u64 first = (place.bin * of.range + of.bins - 1) / of.bins;
    u64 distance = (place.bin * of.range + share(place.fraction, of.range)) / of.bins;
    distance = distance < first ? first : distance;
    return wrapped_between<T>(of, of.lower + static_cast<long long>(distance < of.range ? distance : of.range - 1));
  }
}

/// A number that counts nowhere, or `inside` where the type has none of the kind.
template <class T>
__device__ __forceinline__ T outside(const Histogram& of, u64 h, T inside) {
  if constexpr (Element<T>::kFloating) {
    switch (h % 7) {
      case 0: return __int_as_float(0x7fc00000);                     // NaN
      case 1: return __int_as_float(0x7f800000);                     // infinity
      case 2: return __int_as_float(static_cast<int>(0xff800000u));  // and its negative
      case 3: return of.upper_f32;
      case 4: return next_below(of.lower_f32);
      case 5: return __int_as_float(0x7f7fffff);  // the greatest number
      default: return __int_as_float(static_cast<int>(0xff7fffffu));
    }
  } else {
    const long long upper = of.lower + static_cast<long long>(of.range);
    const long long further = static_cast<long long>(share(hash(h, kFractionSeed), of.range));
    const long long kinds[] = {of.lower - 1, of.lower - 1 - further, upper, upper + further, SampleLimits<T>::kLowest, SampleLimits<T>::kHighest};
    const long long x = kinds[h % 6];
    return x < SampleLimits<T>::kLowest || x > SampleLimits<T>::kHighest ? inside : static_cast<T>(x);
  }
}

template <class T>
__device__ __forceinline__ T histogram_value(const Histogram& of, const HistogramData& data, u64 index) {
  const bool treacherous = data.treacherous != 0;
  if (data.part == kEdges) return edge_at<T>(of, index, treacherous);
  const u64 h = hash(index, data.seed);
  Place place = place_of(of, data, index, h);
  const u64 kind = treacherous ? hash(h, kKindSeed) : ~0ull;
  if (kind % kOneIn == 1) place.fraction = 0;
  const T inside = sample_at<T>(of, place, treacherous);
  return kind % kOneIn == 0 ? outside<T>(of, kind / kOneIn, inside) : inside;
}

extern "C" __global__ void attune_fill_histogram(void* target, u64 count, int type, Histogram of, HistogramData data) {
  with_sample(type, [&](auto tag) {
    typedef typename decltype(tag)::Type T;
    T* const out = static_cast<T*>(target);
    for (u64 i = thread_index(); i < count; i += thread_count()) out[i] = histogram_value<T>(of, data, i);
  });
}

/// Whether a buffer still holds what attune_fill_histogram put there.
extern "C" __global__ void attune_check_histogram(const void* source, u64 count, int type, Histogram of, HistogramData data, Slot* slot) {
  with_sample(type, [&](auto tag) {
    typedef typename decltype(tag)::Type T;
    const T* const in = static_cast<const T*>(source);
    for (u64 i = thread_index(); i < count; i += thread_count()) {
      if (bits_of(in[i]) != bits_of(histogram_value<T>(of, data, i))) report(slot, i);
    }
  });
}

// ---- counting ---------------------------------------------------------------------------------------------------------

constexpr u64 kNowhere = ~0ull;

template <class T>
__device__ __forceinline__ u64 bin_between(const T* edges, u64 bins, T x) {
  u64 low = 0, high = bins + 1;  // the first edge above x
  while (low < high) {
    const u64 middle = (low + high) / 2;
    if (edges[middle] <= x) low = middle + 1;
    else high = middle;
  }
  return low == 0 || low == bins + 1 ? kNowhere : low - 1;
}

template <class T>
__device__ __forceinline__ u64 bin_at(const Histogram& of, const void* edges, T x) {
  if (of.by_edges) return bin_between(static_cast<const T*>(edges), of.bins, x);
  if constexpr (Element<T>::kFloating) {
    if (!(x >= of.lower_f32 && x < of.upper_f32)) return kNowhere;
    const float bins = static_cast<float>(of.bins);
    const float product = __fmul_rn(__fsub_rn(x, of.lower_f32), __fdiv_rn(bins, __fsub_rn(of.upper_f32, of.lower_f32)));
    if (!(product >= 1.0f)) return 0;
    return product >= bins ? of.bins - 1 : static_cast<u64>(product);
  } else {
    const long long value = x;
    const u64 distance = static_cast<u64>(value) - static_cast<u64>(of.lower);
    return value < of.lower || distance >= of.range ? kNowhere : distance * of.bins / of.range;
  }
}

/// What a thread found in one bin, one sample after the other.
struct Run {
  u64 at;
  u64 count;
  double sum;
  double magnitude;
};

__device__ __forceinline__ void add_double(double* target, double value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 600
  u64* const bits = reinterpret_cast<u64*>(target);
  for (u64 seen = *bits, before = ~seen; before != seen;) {
    before = seen;
    seen = atomicCAS(bits, before, static_cast<u64>(__double_as_longlong(value + __longlong_as_double(static_cast<long long>(before)))));
  }
#else
  atomicAdd(target, value);
#endif
}

__device__ __forceinline__ void add_run(const Run& run, u64* counts, double* sums, double* magnitudes) {
  if (run.count == 0) return;
  atomicAdd(counts + run.at, run.count);
  if (sums == nullptr) return;
  add_double(sums + run.at, run.sum);
  add_double(magnitudes + run.at, run.magnitude);
}

/// Adds to counts, which are zero before, and of weighted samples to `sums` and `magnitudes`; null without weights. Samples
/// of one bin behind each other are added together, or samples that are all alike would take a second.
extern "C" __global__ void attune_count(const void* samples, const void* edges, const float* weights, int type, Histogram of,
                                        u64* counts, double* sums, double* magnitudes) {
  with_sample(type, [&](auto tag) {
    typedef typename decltype(tag)::Type T;
    const T* const in = static_cast<const T*>(samples);
    Run run{0, 0, 0.0, 0.0};
    for (u64 i = thread_index(); i < of.pixels * of.channels; i += thread_count()) {
      const u64 channel = i % of.channels;
      const u64 bin = channel < of.active ? bin_at<T>(of, edges, in[i]) : kNowhere;
      if (bin == kNowhere) continue;
      const u64 at = channel * of.bins + bin;
      if (at != run.at) {
        add_run(run, counts, sums, magnitudes);
        run = Run{at, 0, 0.0, 0.0};
      }
      run.count += 1;
      if (weights == nullptr) continue;
      run.sum += weights[i];
      run.magnitude += fabs(static_cast<double>(weights[i]));
    }
    add_run(run, counts, sums, magnitudes);
  });
}

/// How far off a sum of `count` weights in f32 may be, in whatever order they were added. Each addition is off by half a
/// unit in the last place of its result, at most u times the sum of abs(weight), so that n of them are off by n times that in
/// the worst case. Rounding errors go up and down like a random walk: sqrt(n) of it is generous.
__device__ __forceinline__ double allowed_of(double unit, u64 count, double magnitude) {
  return unit * (8.0 + sqrt(static_cast<double>(count))) * magnitude;
}

/// `type`: of the counters: u32, u64 or f32. `unit`: the unit roundoff, or 0 where sums are exact.
extern "C" __global__ void attune_compare_counts(const void* got, int type, u64 total, const u64* counts, const double* sums,
                                                 const double* magnitudes, double unit, Slot* slot) {
  for (u64 i = thread_index(); i < total; i += thread_count()) {
    bool right = false;
    if (type == 5) right = static_cast<const u32*>(got)[i] == static_cast<u32>(counts[i]);
    if (type == 7) right = static_cast<const u64*>(got)[i] == counts[i];
    if (type == 10) right = fabs(static_cast<const float*>(got)[i] - sums[i]) <= allowed_of(unit, counts[i], magnitudes[i]);
    if (!right) report(slot, i);
  }
}
