// Every sample an atomic on the counts themselves.

namespace {

struct GlobalCounters {
  static constexpr bool kPacked = false;
  static constexpr unsigned first = 0;
  unsigned width;
  Counter* counts;

  __device__ void one(unsigned at) { add_to(counts + at, 1u); }
  __device__ void one_below(unsigned at, unsigned limit) {
    if (at < limit) one(at);
  }
  __device__ void add(unsigned at, Count count) { add_to(counts + at, count); }
};

}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads) histogram_global(const T* samples, const T* edges, const float* weights, Counter* counts,
                                                                        Level lower, Level upper, long long n, long long bins, unsigned parts) {
  __shared__ Mapping::Scratch scratch;
  const Problem problem{edges, lower, upper, static_cast<unsigned>(bins)};
  const Samples all(samples, has_bins(problem) ? n * kChannels : 0);
  Walk walk(all, blockIdx.x, parts);
  Mapping::prepare(problem, scratch, nullptr);
  __syncthreads();
  if constexpr (ATTUNE_MERGE_ATOMIC_DEPENDENT) wait_for_step_before();
  const Mapping mapping(problem, scratch, nullptr);
  GlobalCounters counters{problem.bins * kActive, counts};
  Counting<false, GlobalCounters> counting(problem, mapping, counters, weights);
  count_part(all, walk, counting);
}
