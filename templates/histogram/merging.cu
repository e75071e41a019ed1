// From the counts of blocks to the counts of all: clearing, adding up, the second pass.

namespace {

/// A block's place in the grid: blocks of a cluster have neighbouring parts of the samples and the same range of columns.
struct Place {
  unsigned group;  ///< of blocks whose counts are added up before they leave shared memory
  unsigned part;
  unsigned range;
  unsigned rank;  ///< in the group

  __device__ Place() {
    rank = blockIdx.x % kClusterBlocks;
    const unsigned cluster = blockIdx.x / kClusterBlocks;
    range = cluster % kRanges;
    group = cluster / kRanges;
    part = group * kClusterBlocks + rank;
  }
};

__device__ __forceinline__ void wait_for_step_before() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
__device__ __forceinline__ void let_next_step_start() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }

/// Everything that threads of the cluster did before is seen by all of them. The instructions want whole warps, and no more: warps may meet at
/// different ones.
__device__ __forceinline__ void cluster_barrier() {
  __syncwarp();
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// The address of the same shared variable in another block of the cluster.
__device__ __forceinline__ unsigned in_block(unsigned rank, unsigned address) {
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}

__device__ __forceinline__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ __forceinline__ unsigned load_of_cluster(unsigned address) {
  unsigned word;
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(word) : "r"(address) : "memory");
  return word;
}

__device__ __forceinline__ void add_to(unsigned* at, unsigned count) { atomicAdd(at, count); }
__device__ __forceinline__ void add_to(unsigned long long* at, unsigned count) { atomicAdd(at, static_cast<unsigned long long>(count)); }
__device__ __forceinline__ void add_to(float* at, float count) { atomicAdd(at, count); }

/// The counts are cleared while all blocks count, by one warp each: all of them by the only block, which nobody waits for; few of them by the
/// first block, which has started when another runs (docs/decisions/0010); else a share after the other is taken by those that start first until
/// none is left, and whoever waits knows that every share was taken by a block that has started, however many blocks have. A flag counts the
/// shares that are clear.
/// What a cold memory makes wait for is asked for early and waited for late.
/// `sync`: shares taken, arrivals, the flag, a line of memory each; zero before and after the kernel.
class Duty {
 public:
  __device__ Duty(unsigned* sync, Counter* counts, unsigned count) : sync_(sync), counts_(counts), count_(count), share_(blockIdx.x) {
    if (alone()) share_bits_ = 30;
    else if (kClusterBlocks == 1 && count <= 1u << kFewBits) share_bits_ = kFewBits;
    else share_bits_ = kFewestBits + max(0, __clz(gridDim.x) - __clz(count >> kFewestBits));  // about one for every block
  }
  __device__ void start() {
    if (alone()) return;
    const unsigned lane = lane_of_warp();
    if (lane == 0 && !single()) share_ = take();
    if (lane == 1) prefetch(sync_ + kFlag);
    if (lane == 2) prefetch(sync_ + kArrivals);
  }
  __device__ void clear() {
    unsigned share = __shfl_sync(kAllLanes, share_, 0);
    while (share < shares()) {
      unsigned next = shares();
      zero(share << share_bits_, min(count_, (share + 1) << share_bits_));
      __syncwarp();
      if (lane_of_warp() == 0 && !alone()) asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(sync_ + kFlag) : "memory");
      if (lane_of_warp() == 0 && !single()) next = take();
      share = __shfl_sync(kAllLanes, next, 0);
    }
  }
  /// Returns when the counts are clear.
  __device__ void await() {
    const bool cleared_all = single() && blockIdx.x == 0;
    if (lane_of_warp() == 0 && !cleared_all) {
      while (attune::load_acquire(sync_ + kFlag) != shares()) {
      }
    }
    __syncwarp();
  }
  /// After `await`: this block takes no share and looks at no flag any more. Nobody waits for the answer before `finish`. No order of memory is
  /// asked for: who comes last has seen the flag, or set it; and each block departs only when its last question for a share was answered, so that
  /// no answer can be that of a counter that is zero again.
  __device__ void depart() {
    if (lane_of_warp() == 0 && !alone()) departed_earlier_ = attune::take_ticket(sync_ + kArrivals, gridDim.x - 1);
  }
  /// When there is nothing else to do: the last block to depart leaves everything zero.
  __device__ void finish() {
    if (lane_of_warp() == 0 && !alone() && departed_earlier_ == gridDim.x - 1) {
      attune::store_relaxed(sync_ + kTaken, 0u);
      attune::store_relaxed(sync_ + kFlag, 0u);
    }
  }

 private:
  static constexpr unsigned kTaken = 0, kArrivals = 32, kFlag = 64;
  static constexpr unsigned kFewBits = 11;    ///< 2048 counts: what a warp clears while the first samples are on their way
  static constexpr unsigned kFewestBits = 9;  ///< of a share: a warp waits for each that it takes

  static __device__ bool alone() { return gridDim.x == 1; }
  [[nodiscard]] __device__ unsigned shares() const { return (count_ + (1u << share_bits_) - 1) >> share_bits_; }
  /// The first block's: nobody takes it.
  [[nodiscard]] __device__ bool single() const { return kClusterBlocks == 1 && count_ <= 1u << share_bits_; }
  /// Counts from `begin`, the first of a share, to before `end`.
  __device__ void zero(unsigned begin, unsigned end) const {
    constexpr unsigned kPerStore = sizeof(uint4) / sizeof(Counter);
    if (reinterpret_cast<unsigned long long>(counts_) % sizeof(uint4) == 0) {
      uint4* const stores = reinterpret_cast<uint4*>(counts_);
#pragma unroll 1
      for (unsigned i = begin / kPerStore + lane_of_warp(); i < end / kPerStore; i += 4 * 32) {
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) {
          if (i + k * 32 < end / kPerStore) stores[i + k * 32] = uint4{0, 0, 0, 0};
        }
      }
      begin = end / kPerStore * kPerStore;
    }
#pragma unroll 1
    for (unsigned i = begin + lane_of_warp(); i < end; i += 32) counts_[i] = 0;
  }
  __device__ unsigned take() { return attune::take_ticket(sync_ + kTaken, ~0u); }
  static __device__ void prefetch(const unsigned* at) { asm volatile("prefetch.global.L2 [%0];" ::"l"(at)); }

  unsigned* sync_;
  Counter* counts_;
  unsigned count_;
  int share_bits_;
  unsigned share_;  ///< the first that this block may clear
  unsigned departed_earlier_ = 0;  ///< blocks
};

/// Where a block's totals go.
struct Output {
  const Problem& problem;
  Counter* counts;
  Count* row;  ///< of a second pass: the group's partial counts
  unsigned columns;

  /// Column `column` has `total` in this group.
  __device__ void put(unsigned column, Count total) const {
    if (column >= columns) return;  // beyond the last range
    if constexpr (kSecondPass) {
      row[column] = total;
    } else if constexpr (kDirect) {
      if (!kByValue || values_are_bins(problem)) counts[column] = total;
      else add(column, total);
    } else {
      add(column, total);
    }
  }
  __device__ void add(unsigned column, Count total) const {
    if (total == Count(0)) return;
    if (kByValue && !values_are_bins(problem)) {
      const unsigned bin = bin_of_value(problem, column & 255);
      if (bin < problem.bins) add_to(counts + (column >> 8) * problem.bins + bin, total);
    } else {
      add_to(counts + column, total);
    }
  }
  /// Before the totals of one group that are all there is: bins that no byte has are put by nobody. By all threads of the
  /// cluster; a barrier of theirs must follow.
  __device__ void clear_unless_put(unsigned thread, unsigned threads) const {
    if constexpr (kDirect && kByValue) {
      if (values_are_bins(problem)) return;
      for (unsigned i = thread; i < problem.bins * kActive; i += threads) counts[i] = 0;
    }
  }
};

}  // namespace

#if ATTUNE_MERGE_ATOMIC_DEPENDENT

extern "C" __global__ void __launch_bounds__(256) histogram_clear(Counter* counts, long long bins) {
  let_next_step_start();
  for (unsigned i = blockIdx.x * 256 + threadIdx.x; i < bins * kActive; i += gridDim.x * 256) counts[i] = 0;
}

#endif
#if ATTUNE_MERGE_TWO_PASS || ATTUNE_MERGE_DEPENDENT_TWO_PASS

namespace {

constexpr unsigned kSumRows = 8;  ///< that a block reads at once, a warp each
/// Two columns to a word, as their blocks counted them; what overflowed stands in `spill`.
constexpr bool kPackedRows = kCountersPerWord == 2 && kClusterBlocks <= 2;

/// Of the rows of one warp.
__device__ __forceinline__ Count sum_of_rows(const Count* partials, unsigned column, unsigned row_words, unsigned rows) {
  Count total = 0;
#pragma unroll 8
  for (unsigned row = threadIdx.x / 32; row < rows; row += kSumRows) total += __ldcg(partials + static_cast<size_t>(row) * row_words + column);
  return total;
}

/// The total over the block's warps, in the first of them.
template <class V>
__device__ __forceinline__ V sum_of_warps(V (&shared)[kSumRows][32], V mine) {
  const unsigned warp = threadIdx.x / 32, lane = lane_of_warp();
  shared[warp][lane] = mine;
  __syncthreads();
  if (warp == 0) {
#pragma unroll
    for (unsigned w = 1; w < kSumRows; ++w) mine += shared[w][lane];
  }
  return mine;
}

}  // namespace

/// Adds up the groups' rows: 32 words of a row a block.
extern "C" __global__ void __launch_bounds__(256) histogram_sum(const Count* partials, unsigned* spill, const T* edges, Counter* counts, Level lower,
                                                                Level upper, long long bins, unsigned columns, unsigned row_words, unsigned rows) {
  const Problem problem{edges, lower, upper, static_cast<unsigned>(bins)};
  if constexpr (ATTUNE_MERGE_DEPENDENT_TWO_PASS) wait_for_step_before();
  const unsigned at = blockIdx.x * 32 + lane_of_warp();
  if constexpr (kPackedRows) {
    __shared__ unsigned even[kSumRows][32], odd[kSumRows][32];
    unsigned low = 0, high = 0;
    if (2 * at < columns) {
      const unsigned* const words = reinterpret_cast<const unsigned*>(partials);
#pragma unroll 8
      for (unsigned row = threadIdx.x / 32; row < rows; row += kSumRows) {
        const unsigned word = __ldcg(words + static_cast<size_t>(row) * row_words + at);
        low += word & 0xffffu;
        high += word >> 16;
      }
    }
    low = sum_of_warps(even, low);
    high = sum_of_warps(odd, high);
    if (threadIdx.x >= 32) return;
    const unsigned total[2] = {low, high};
#pragma unroll
    for (unsigned half = 0; half < 2; ++half) {
      const unsigned column = 2 * at + half;
      if (column >= columns) continue;
      const unsigned spilled = __ldcg(spill + column);
      if (spilled != 0) spill[column] = 0;
      counts[column] = static_cast<Counter>(total[half]) + static_cast<Counter>(spilled);
    }
  } else {
    __shared__ Count shared[kSumRows][32];
    if (kByValue && !values_are_bins(problem)) {  // a bin is the sum of several bytes, or of none
      Count total = 0;
      if (at < problem.bins * kActive) {
        for (unsigned value = 0; value < 256; ++value) {
          if (bin_of_value(problem, value) == at % problem.bins) total += sum_of_rows(partials, at / problem.bins * 256 + value, row_words, rows);
        }
      }
      total = sum_of_warps(shared, total);
      if (threadIdx.x < 32 && at < problem.bins * kActive) counts[at] = total;
      return;
    }
    const Count total = sum_of_warps(shared, at < columns ? sum_of_rows(partials, at, row_words, rows) : Count(0));
    if (threadIdx.x >= 32 || at >= columns) return;
    if constexpr (kCountersPerWord == 2) {
      const unsigned spilled = __ldcg(spill + at);
      if (spilled != 0) spill[at] = 0;
      counts[at] = static_cast<Counter>(total) + static_cast<Counter>(spilled);
    } else {
      counts[at] = total;
    }
  }
}

#endif
