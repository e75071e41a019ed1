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

/// Everything that threads of the cluster did before is seen by all of them. The instructions want whole warps.
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

/// The counts are cleared while all blocks count, by one warp each of those that start first: a share after the other is taken
/// until none is left, and a flag counts the shares that are clear. Whoever waits for the flag knows that every share was taken
/// by a block that has started, however many blocks have.
/// `sync`: shares taken, arrivals, the flag, a line of memory each; zero before and after the kernel.
class Duty {
 public:
  __device__ Duty(unsigned* sync, Counter* counts, unsigned count)
      : sync_(sync), counts_(counts), count_(count), per_share_(share_of(count)), shares_((count + per_share_ - 1) / per_share_) {}
  __device__ void start() {
    if (lane_of_warp() == 0) share_ = take();
  }
  __device__ void clear() {
    while (true) {
      const unsigned share = __shfl_sync(kAllLanes, share_, 0);
      if (share >= shares_) return;
      const unsigned end = min(count_, (share + 1) * per_share_);
#pragma unroll 4
      for (unsigned i = share * per_share_ + lane_of_warp(); i < end; i += 32) counts_[i] = 0;
      __syncwarp();
      if (lane_of_warp() == 0) {
        asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(sync_ + kFlag) : "memory");
        share_ = take();
      }
    }
  }
  /// Returns when the counts are clear. The last block that has seen it leaves everything zero: nobody takes a share any more.
  __device__ void await() {
    if (lane_of_warp() == 0) {
      while (attune::load_acquire(sync_ + kFlag) != shares_) {
      }
      if (attune::arrive(sync_ + kArrivals, gridDim.x - 1) == gridDim.x - 1) {
        attune::store_relaxed(sync_ + kTaken, 0u);
        attune::store_relaxed(sync_ + kFlag, 0u);
      }
    }
    __syncwarp();
  }

 private:
  static constexpr unsigned kTaken = 0, kArrivals = 32, kFlag = 64;
  static constexpr unsigned kFewest = 512;  ///< counts of a share

  /// One for every block, unless that would be too few to be worth the taking: a warp waits for each that it takes, not for what it clears.
  static __device__ unsigned share_of(unsigned count) { return max(kFewest, (count + gridDim.x - 1) / gridDim.x); }
  __device__ unsigned take() { return attune::take_ticket(sync_ + kTaken, ~0u); }

  unsigned* sync_;
  Counter* counts_;
  unsigned count_;
  unsigned per_share_;
  unsigned shares_;
  unsigned share_ = 0;
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
