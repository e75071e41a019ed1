#include <cub/block/block_radix_sort.cuh>
// A tile is sorted, then its runs are counted: how many bins there are, and how samples lie in them, has no influence.

extern "C" __global__ void __launch_bounds__(kThreads)
    histogram_count(const T* samples, const T* edges, const float* weights, Counter* counts, Level lower, Level upper, long long n, long long bins,
                    unsigned parts, unsigned range_columns, Count* partials, unsigned* spill, unsigned* sync) {
  constexpr unsigned kPerThread = kItems * kPerVector;
  using Sort = cub::BlockRadixSort<unsigned, kThreads, kPerThread>;
  __shared__ union {
    typename Sort::TempStorage sort;
    unsigned border[2][kThreads];  ///< first and last key of every thread
  } shared;
  __shared__ Mapping::Scratch scratch;
  const Problem problem{edges, lower, upper, static_cast<unsigned>(bins)};
  const Samples all(samples, has_bins(problem) ? n * kChannels : 0);
  Walk walk(all, blockIdx.x, parts);
  Mapping::prepare(problem, scratch, nullptr);
  __syncthreads();
  if constexpr (ATTUNE_MERGE_ATOMIC_DEPENDENT) wait_for_step_before();
  const Mapping mapping(problem, scratch, nullptr);
  const int bits = 33 - __clz(problem.bins);  // one value more than there are bins: none of them
  const auto bin_or_none = [&](Bits x) { return min(mapping.bin(x), problem.bins); };

  const auto count_sorted = [&](unsigned (&key)[kPerThread]) {
    Sort(shared.sort).Sort(key, 0, bits);
    __syncthreads();
    shared.border[0][threadIdx.x] = key[0];
    shared.border[1][threadIdx.x] = key[kPerThread - 1];
    __syncthreads();
    const unsigned before = threadIdx.x == 0 ? kNone : shared.border[1][threadIdx.x - 1];
    const unsigned behind = threadIdx.x == kThreads - 1 ? kNone : shared.border[0][threadIdx.x + 1];
    // A run from position i to j adds j + 1 at its end and takes i at its beginning: threads need not know both.
    unsigned sum = 0;
#pragma unroll
    for (unsigned k = 0; k < kPerThread; ++k) {
      const unsigned position = threadIdx.x * kPerThread + k;
      if (key[k] != (k == 0 ? before : key[k - 1])) sum -= position;
      const bool ends = key[k] != (k + 1 == kPerThread ? behind : key[k + 1]);
      if (ends) sum += position + 1;
      if ((ends || k + 1 == kPerThread) && sum != 0) {
        if (key[k] < problem.bins) atomicAdd(counts + key[k], static_cast<Counter>(static_cast<long long>(static_cast<int>(sum))));
        sum = 0;
      }
    }
    __syncthreads();
  };
  walk.run(
      [&](Vec (&vectors)[kItems], long long, unsigned there) {
        if (there == kTile) {
          unsigned key[kPerThread];
#pragma unroll
          for (unsigned i = 0; i < kPerThread; ++i) key[i] = bin_or_none(attune::element_bits<T>(vectors[i / kPerVector], i % kPerVector));
          return count_sorted(key);
        }
        // The ragged last step is counted one by one.
#pragma unroll
        for (unsigned i = 0; i < kPerThread; ++i) {
          const unsigned bin = bin_or_none(attune::element_bits<T>(vectors[i / kPerVector], i % kPerVector));
          if (i / kPerVector * kThreads + threadIdx.x < there && bin < problem.bins) atomicAdd(counts + bin, Counter(1));
        }
      },
      [] {},
      [&](Bits bits, long long) {
        const unsigned bin = bin_or_none(bits);
        if (bin < problem.bins) atomicAdd(counts + bin, Counter(1));
      });
}
