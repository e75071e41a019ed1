// From samples to columns, and how equal samples are counted together. A target is what columns are counted in:
//   kPacked             whether it counts a vector's columns by `add_all`, to look for overflow once
//   first, width        its columns: column c stands at c - first, which is below width
//   one(at), add(at, count)
//   one_below(at, limit)  one where `at` is below `limit`, which is at most width

namespace {

constexpr unsigned kAllLanes = ~0u;

__device__ __forceinline__ unsigned lane_of_warp() { return threadIdx.x & 31; }

/// Of the threads that count only. The instruction wants whole warps.
__device__ __forceinline__ void counting_barrier() {
  __syncwarp();
  asm volatile("bar.sync 1, %0;" ::"n"(kThreads) : "memory");
}

// A warp on duty goes a way of its own, where no __syncthreads may be: that has to be the same one for all threads of a block.

/// Before the first sample is counted: what the counting threads prepared is seen by all of them.
__device__ __forceinline__ void prepared_by_all() {
  if constexpr (kDutyThreads == 0) __syncthreads();
  else counting_barrier();
}
/// By the counting threads: all have counted, and the counts are clear.
__device__ __forceinline__ void counted_by_all() {
  if constexpr (kDutyThreads == 0) {
    __syncthreads();
  } else {
    __syncwarp();
    asm volatile("bar.sync 2, %0;" ::"n"(kThreads + kDutyThreads) : "memory");
  }
}
/// By the warp on duty, which does not wait.
__device__ __forceinline__ void tell_cleared() {
  __syncwarp();
  asm volatile("bar.arrive 2, %0;" ::"n"(kThreads + kDutyThreads) : "memory");
}

template <bool ByValue, class Target>
class Counting {
 public:
  __device__ Counting(const Problem& problem, const Mapping& mapping, Target& target, const float* weights)
      : problem_(problem), mapping_(mapping), target_(target), weights_(weights) {}

  /// A step of the block, of `there` vectors, ragged or whole: every thread of its warps is here.
  __device__ void step(Vec (&vectors)[kItems], long long index, unsigned there, const Samples& samples) {
    if (kTogether && there == kTile) {
      if constexpr (ATTUNE_AGGREGATE_RUNS) runs(vectors);
      if constexpr (ATTUNE_AGGREGATE_MATCH) {
#pragma unroll
        for (unsigned i = 0; i < kItems; ++i) match(vectors[i], samples.index_of(index + i * kThreads));
      }
      if constexpr (ATTUNE_AGGREGATE_UNIFORM) {
#pragma unroll
        for (unsigned i = 0; i < kItems; ++i) uniform(vectors[i]);
      }
      return;
    }
    const int behind = static_cast<int>(there) - static_cast<int>(threadIdx.x);
    if constexpr (kPassesOver) {
      if (samples.before % kChannels == 0) {
#pragma unroll
        for (unsigned i = 0; i < kItems; ++i) {
          if (behind > static_cast<int>(i * kThreads)) first_channels(vectors[i]);
        }
        return;
      }
    }
#pragma unroll
    for (unsigned i = 0; i < kItems; ++i) {
      const bool is_there = behind > static_cast<int>(i * kThreads);
      if constexpr (kWithoutBranch && !ATTUNE_MAPPING_EDGES) {  // searching edges for samples that are not there costs more than a branch
        if (i * kThreads >= there) return;  // for the whole block
        unsigned at[kPerVector];
        places(vectors[i], samples.index_of(index + i * kThreads), at);
        const unsigned limit = is_there ? target_.width : 0;
#pragma unroll
        for (unsigned k = 0; k < kPerVector; ++k) target_.one_below(at[k], limit);
      } else {
        if (is_there) vector(vectors[i], samples.index_of(index + i * kThreads));
      }
    }
  }
  /// `index`: of its first sample.
  __device__ void vector(const Vec& v, long long index) {
    unsigned at[kPerVector];
    places(v, index, at);
    if constexpr (ATTUNE_AGGREGATE_FREQUENT) {
#pragma unroll
      for (unsigned k = 0; k < kPerVector; ++k) {
        hits_ += at[k] == frequent_;
        at[k] = at[k] == frequent_ ? kNone : at[k];
      }
    }
    if constexpr (Target::kPacked) {
      target_.add_all(at);
    } else {
#pragma unroll
      for (unsigned k = 0; k < kPerVector; ++k) count(at[k], index + k);
    }
  }
  /// The column that is counted in registers from now on: that of most of a warp's first samples. By one warp, whose samples
  /// are those of a whole step.
  __device__ unsigned most_frequent(const Vec& v) const {
    unsigned at[kPerVector];
    places(v, 0, at);
    const unsigned peers = __popc(__match_any_sync(kAllLanes, at[0]));
    const unsigned most = __reduce_max_sync(kAllLanes, at[0] < target_.width ? peers << 5 | lane_of_warp() : 0u);
    const unsigned column = __shfl_sync(kAllLanes, at[0], most & 31);
    return most == 0 ? kNone : column;
  }
  __device__ void set_frequent(unsigned column) { frequent_ = column; }
  /// How often a warp met it; in every lane.
  __device__ unsigned hits_of_warp() const { return __reduce_add_sync(kAllLanes, hits_); }
  /// One sample, whichever it is.
  __device__ void sample(Bits bits, long long index) {
    count(place(value_of(bits), first_column(channel_of(index))), index);
  }

 private:
  /// Equal samples of a whole step are looked for.
  static constexpr bool kTogether = ATTUNE_AGGREGATE_RUNS || ATTUNE_AGGREGATE_MATCH || ATTUNE_AGGREGATE_UNIFORM;
  /// Every sample has a column of the target.
  static constexpr bool kAlwaysInside = ByValue && kActive == kChannels && !ATTUNE_AGGREGATE_FREQUENT;
  /// Samples that are not there, or have no column here, are told by a limit: the target may count them where nobody looks, so that no warp has
  /// to meet behind a branch.
  static constexpr bool kWithoutBranch = !kAlwaysInside && !kWeighted && !Target::kPacked && !ATTUNE_AGGREGATE_FREQUENT;

  /// Vectors that begin with the first channel, nearly all, are known to have which channels where: what is not counted costs nothing.
  static constexpr bool kPassesOver = kWithoutBranch && ByValue && kPerVector % kChannels == 0;
  /// The first column of a channel that is not counted: with a byte added it is beyond all columns, too.
  static constexpr unsigned kNotCounted = ByValue ? 1u << 31 : kNone;

  __device__ unsigned first_column(unsigned channel) const {
    if constexpr (kChannels == 1) return 0;
    return channel < kActive ? channel * (ByValue ? 256 : problem_.bins) : kNotCounted;
  }
  __device__ unsigned value_of(Bits bits) const {
    if constexpr (ByValue) return bits;
    else return mapping_.bin(bits);
  }
  /// Of a byte, or else of a bin.
  __device__ unsigned place(unsigned value, unsigned first_column) const {
    if constexpr (ByValue) return first_column + value;
    if constexpr (kChannels == 1) return value - target_.first;
    return value < problem_.bins && first_column != kNotCounted ? first_column + value - target_.first : kNone;
  }
  /// Of all samples of a vector, side by side, so that their looks at memory are under way together.
  __device__ void places(const Vec& v, long long index, unsigned (&at)[kPerVector]) const {
    unsigned first_columns[kChannels], channel = channel_of(index);
#pragma unroll
    for (unsigned c = 0; c < kChannels; ++c) {
      first_columns[c] = first_column(channel);
      channel = channel + 1 == kChannels ? 0 : channel + 1;
    }
    Bits bits[kPerVector];
#pragma unroll
    for (unsigned k = 0; k < kPerVector; ++k) bits[k] = attune::element_bits<T>(v, k);
    if constexpr (!ByValue) mapping_.all(bits, at);
#pragma unroll
    for (unsigned k = 0; k < kPerVector; ++k) at[k] = place(ByValue ? bits[k] : at[k], first_columns[k % kChannels]);
  }
  static __device__ unsigned channel_of(long long index) {
    return kChannels == 1 ? 0 : static_cast<unsigned>(static_cast<unsigned long long>(index) % kChannels);
  }
  /// Of a vector that begins with the first channel.
  __device__ void first_channels(const Vec& v) {
#pragma unroll
    for (unsigned k = 0; k < kPerVector; ++k) {
      if (k % kChannels < kActive) target_.one(k % kChannels * 256 + attune::element_bits<T>(v, k));
    }
  }
  __device__ void count(unsigned at, long long index) {
    if constexpr (kWithoutBranch) return target_.one_below(at, target_.width);
    if (!kAlwaysInside && at >= target_.width) return;
    if constexpr (kWeighted) target_.add(at, weights_[index]);
    else target_.one(at);
  }
  __device__ void many(unsigned at, unsigned times) {
    if (kAlwaysInside || at < target_.width) target_.add(at, times);
  }

  /// Where there is one channel.
  __device__ unsigned place_of_only(const Vec& v, unsigned k) const { return place(value_of(attune::element_bits<T>(v, k)), 0); }
  /// A thread's equal neighbours.
  __device__ void runs(const Vec (&vectors)[kItems]) {
    unsigned current = place_of_only(vectors[0], 0), times = 1;
#pragma unroll
    for (unsigned i = 1; i < kItems * kPerVector; ++i) {
      const unsigned at = place_of_only(vectors[i / kPerVector], i % kPerVector);
      if (at != current) {
        many(current, times);
        current = at;
        times = 0;
      }
      ++times;
    }
    many(current, times);
  }
  /// A warp's equal samples, whichever they are.
  __device__ void match(const Vec& v, long long index) {
    unsigned at[kPerVector];
    places(v, index, at);
#pragma unroll
    for (unsigned k = 0; k < kPerVector; ++k) {
      if constexpr (kChannels > 1 && ByValue) at[k] = at[k] < target_.width ? at[k] : kNone;  // all that is not counted together
      const unsigned peers = __match_any_sync(kAllLanes, at[k]);
      const bool first = (peers & ((1u << lane_of_warp()) - 1)) == 0;
      if constexpr (kWeighted) {
        const float sum = sum_of_peers(weights_[index + k], peers);
        if (first && at[k] < target_.width) target_.add(at[k], sum);
      } else {
        if (first) many(at[k], __popc(peers));
      }
    }
  }
  /// Of a value in each of these lanes, which all name each other. Every lane of the warp is here.
  static __device__ float sum_of_peers(float value, unsigned peers) {
    float sum = value;
    unsigned others = peers & ~(1u << lane_of_warp());
    while (__any_sync(kAllLanes, others != 0)) {
      const float other = __shfl_sync(kAllLanes, value, others != 0 ? __ffs(others) - 1 : lane_of_warp());
      if (others != 0) sum += other;
      others &= others - 1;
    }
    return sum;
  }
  /// Only where all samples that a warp holds are equal.
  __device__ void uniform(const Vec& v) {
    constexpr unsigned kPerWord = 4 / sizeof(T);
    const unsigned first = kPerWord == 1 ? v.word[0] : kPerWord == 2 ? (v.word[0] & 0xffffu) * 0x10001u : (v.word[0] & 0xffu) * 0x1010101u;
    const unsigned same = __shfl_sync(kAllLanes, first, 0);
    bool equal = true;
#pragma unroll
    for (unsigned w = 0; w < kVectorBytes / 4; ++w) equal = equal && v.word[w] == same;
    if (!__all_sync(kAllLanes, equal)) return vector(v, 0);  // one channel, no weights: the index tells nothing
    if (lane_of_warp() == 0) many(place_of_only(v, 0), 32 * kPerVector);
  }

  const Problem& problem_;
  const Mapping& mapping_;
  Target& target_;
  const float* weights_;
  unsigned frequent_ = kNone;  ///< then hits are samples outside, and nobody asks for them
  unsigned hits_ = 0;
};

/// Counts a part of the samples. By all threads that count; no barrier at the end but that of packed counters.
template <bool ByValue, class Target>
__device__ __forceinline__ void count_part(const Samples& samples, Walk& walk, Counting<ByValue, Target>& counting) {
  const auto between = [] {
    if constexpr (Target::kPacked) counting_barrier();  // no counter runs ahead of its overflow by more than a step
  };
  walk.run([&](Vec (&vectors)[kItems], long long index, unsigned there) { counting.step(vectors, index, there, samples); }, between,
           [&](Bits bits, long long index) { counting.sample(bits, index); });
}

}  // namespace
