// Bins spread over the shared memories of a cluster: its blocks count into each other's counters.

namespace {

/// Column c is counter c / kClusterBlocks of block c % kClusterBlocks: neighbours, which skewed samples prefer, are apart.
struct ClusterCounters {
  static constexpr bool kPacked = false;
  static constexpr unsigned first = 0;
  unsigned width;
  unsigned address;  ///< of the first counter, in every block alike

  __device__ void one(unsigned at) { add(at, 1u); }
  __device__ void one_below(unsigned at, unsigned limit) {
    if (at < limit) one(at);
  }
  __device__ void add(unsigned at, unsigned count) {
    asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], %1;" ::"r"(in_block(at % kClusterBlocks, address + at / kClusterBlocks * 4)), "r"(count)
                 : "memory");
  }
};

}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads + kDutyThreads)
    histogram_count(const T* samples, const T* edges, const float* weights, Counter* counts, Level lower, Level upper, long long n, long long bins,
                    unsigned parts, unsigned range_columns, Count* partials, unsigned* spill, unsigned* sync) {
  extern __shared__ uint4 dynamic[];
  __shared__ Mapping::Scratch scratch;
  const Problem problem{edges, lower, upper, static_cast<unsigned>(bins)};
  const Place place;
  const unsigned columns = kActive * problem.bins;
  [[maybe_unused]] Duty duty(sync, counts, columns);
  if (kDutyThreads > 0 && threadIdx.x >= kThreads) {
    duty.start();
    cluster_barrier();
    duty.clear();
    duty.await();
    duty.depart();
    cluster_barrier();
    duty.finish();
    return;
  }
  const Samples all(samples, has_bins(problem) ? n * kChannels : 0);
  Walk walk(all, place.part, parts);
  if constexpr (ATTUNE_MERGE_DEPENDENT_TWO_PASS) let_next_step_start();
  const bool on_duty = kTicket && kDutyThreads == 0 && threadIdx.x >= kThreads - 32;
  if (on_duty) duty.start();
  for (unsigned i = threadIdx.x; i < range_columns / 4; i += kThreads) dynamic[i] = uint4{0, 0, 0, 0};
  Mapping::prepare(problem, scratch, nullptr);
  cluster_barrier();  // the others' counters are clear as well
  if (on_duty) duty.clear();
  const Mapping mapping(problem, scratch, nullptr);
  ClusterCounters counters{columns, shared_address(dynamic)};
  Counting<false, ClusterCounters> counting(problem, mapping, counters, weights);
  count_part(all, walk, counting);
  if (on_duty) {
    duty.await();
    duty.depart();
  }
  if constexpr (ATTUNE_MERGE_ATOMIC_DEPENDENT) wait_for_step_before();
  cluster_barrier();  // all have counted
  const Output output{problem, counts, kSecondPass ? partials + static_cast<size_t>(place.group) * columns : nullptr, columns};
  const unsigned* const mine = reinterpret_cast<const unsigned*>(dynamic);
  for (unsigned i = threadIdx.x; i < range_columns; i += kThreads) output.put(i * kClusterBlocks + place.rank, static_cast<Count>(mine[i]));
  if (on_duty) duty.finish();
}
