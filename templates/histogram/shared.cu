// Counters in shared memory, of a block or of parts of its threads, all columns or a range of them.

namespace {

/// Replicas, so that fewer threads meet in one counter: of lanes (counter by counter side by side, without bank conflicts from 32
/// on) or of warps (whole histograms side by side). Packed: two 16-bit counters to a word; one that reaches 2^15 hands so many on
/// to where its total goes. A step adds at most 2^15 to a counter, so that it never reaches 2^16 before it was handed on.
class SharedCounters {
 public:
  static constexpr bool kPacked = kCountersPerWord == 2;

  unsigned first;
  unsigned width;

  /// `room`: counters of a replica, a multiple of 8; beyond the last of all `columns` none is counted. `counts`, `spill`: of packed
  /// counters, where column 0 of all is handed on.
  __device__ SharedCounters(unsigned* words, unsigned first_column, unsigned room, unsigned columns, Counter* counts, unsigned* spill)
      : first(first_column), width(columns > first_column ? min(room, columns - first_column) : 0), words_(words), room_(room), counts_(counts), spill_(spill) {
    __shared__ unsigned outside;
    outside_ = &outside;
    replica_ = ATTUNE_REPLICA_OF_LANE ? lane_of_warp() % kReplicas : threadIdx.x / 32 % kReplicas * room;
  }
  [[nodiscard]] __device__ unsigned words() const { return room_ / kCountersPerWord; }

  __device__ void clear() {
    uint4* const vectors = reinterpret_cast<uint4*>(words_);
    for (unsigned i = threadIdx.x; i < words() * kReplicas / 4; i += kThreads) vectors[i] = uint4{0, 0, 0, 0};
  }
  // The constant 1 is an instruction of its own, which a warp's equal addresses do not slow down.
  __device__ void one(unsigned at) {
    if constexpr (kPacked) add(at, 1u);
    else atomicAdd(words_ + word(at), 1u);
  }
  /// Others are counted where nobody looks.
  __device__ void one_below(unsigned at, unsigned limit) { atomicAdd(at < limit ? words_ + word(at) : outside_, 1u); }
  __device__ void add(unsigned at, unsigned times) {
    if constexpr (kPacked) hand_on(at, atomicAdd(words_ + word(at), times << shift(at)), times);
    else atomicAdd(words_ + word(at), times);
  }
  __device__ void add(unsigned at, float weight) { atomicAdd(reinterpret_cast<float*>(words_) + word(at), weight); }
  /// Any number, when nobody counts any more.
  __device__ void add_many(unsigned at, unsigned times) {
    if constexpr (kPacked) hand_over(at, times);
    else atomicAdd(words_ + word(at), times);
  }
  /// All atomics first, then the look at what they returned.
  template <unsigned N>
  __device__ void add_all(const unsigned (&at)[N]) {
    unsigned before[N];
#pragma unroll
    for (unsigned k = 0; k < N; ++k) {
      if (at[k] < width) before[k] = atomicAdd(words_ + word(at[k]), 1u << shift(at[k]));
    }
    bool full = false;
#pragma unroll
    for (unsigned k = 0; k < N; ++k) full = full || (at[k] < width && (before[k] >> shift(at[k]) & 0xffffu) == 0x7fffu);
    if (!full) return;
#pragma unroll
    for (unsigned k = 0; k < N; ++k) {
      if (at[k] < width) hand_on(at[k], before[k], 1u);
    }
  }
  /// Of a word's columns over the replicas of this block or of all `Blocks` of the cluster.
  template <unsigned Blocks>
  __device__ void totals(unsigned w, Count (&total)[kCountersPerWord]) const {
#pragma unroll
    for (unsigned h = 0; h < kCountersPerWord; ++h) total[h] = 0;
#pragma unroll kReplicas == 1 ? 8 : 1
    for (unsigned block = 0; block < Blocks; ++block) {
#pragma unroll 8
      for (unsigned r = 0; r < kReplicas; ++r) {
        // Neighbouring threads begin with different replicas: those of one column share a bank group.
        const unsigned at = ATTUNE_REPLICA_OF_LANE ? w * kReplicas + (r + threadIdx.x) % kReplicas : r * room_ + w;
        const unsigned word = Blocks == 1 ? words_[at] : load_of_cluster(in_block(block, shared_address(words_ + at)));
        if constexpr (kPacked) {
          total[0] += word & 0xffffu;
          total[1] += word >> 16;
        } else if constexpr (kWeighted) {
          total[0] += __uint_as_float(word);
        } else {
          total[0] += word;
        }
      }
    }
  }
  /// Two columns as they are; of two blocks their halves, each below 2^15, add up without a carry.
  __device__ unsigned packed(unsigned w) const {
    if constexpr (kClusterBlocks == 1) return words_[w];
    const unsigned address = shared_address(words_ + w);
    return load_of_cluster(in_block(0, address)) + load_of_cluster(in_block(1, address));
  }

 private:
  static __device__ unsigned shift(unsigned at) { return at % 2 * 16; }
  __device__ unsigned word(unsigned at) const {
    if constexpr (kPacked) return at / 2;
    return ATTUNE_REPLICA_OF_LANE ? at * kReplicas + replica_ : replica_ + at;
  }
  __device__ void hand_on(unsigned at, unsigned before, unsigned times) {
    const unsigned counter = before >> shift(at) & 0xffffu;
    if (counter >= 0x8000u || counter + times < 0x8000u) return;
    atomicSub(words_ + word(at), 0x8000u << shift(at));
    hand_over(at, 0x8000u);
  }
  /// To where the total goes.
  __device__ void hand_over(unsigned at, unsigned times) {
    if constexpr (kSecondPass) atomicAdd(spill_ + first + at, times);
    else if constexpr (!kWeighted) add_to(counts_ + first + at, times);
  }

  unsigned* words_;
  unsigned* outside_;
  unsigned room_;
  Counter* counts_;
  unsigned* spill_;
  unsigned replica_;
};

/// Puts the totals of a block, or of this block's share of the cluster's columns.
__device__ __forceinline__ void put_totals(const SharedCounters& counters, const Place& place, const Output& output) {
  // Looks at shared memory that are under way together; of many replicas or blocks each word has several anyway.
  constexpr unsigned kAtOnce = kReplicas * kClusterBlocks >= 4 ? 1 : 4;
  unsigned begin = 0, end = counters.words();
  if constexpr (kClusterBlocks > 1) {
    const unsigned share = (end + kClusterBlocks - 1) / kClusterBlocks;
    begin = min(end, place.rank * share);
    end = min(end, begin + share);
  }
#pragma unroll kAtOnce
  for (unsigned w = begin + threadIdx.x; w < end; w += kThreads) {
    const unsigned column = counters.first + w * kCountersPerWord;
    if constexpr (SharedCounters::kPacked && kSecondPass && kClusterBlocks <= 2) {
      reinterpret_cast<unsigned*>(output.row)[column / 2] = counters.packed(w);
    } else {
      Count total[kCountersPerWord];
      counters.totals<kClusterBlocks>(w, total);
#pragma unroll
      for (unsigned h = 0; h < kCountersPerWord; ++h) output.put(column + h, total[h]);
    }
  }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads + kDutyThreads)
    histogram_count(const T* samples, const T* edges, const float* weights, Counter* counts, Level lower, Level upper, long long n, long long bins,
                    unsigned parts, unsigned range_columns, Count* partials, unsigned* spill, unsigned* sync) {
  extern __shared__ uint4 dynamic[];
  __shared__ Mapping::Scratch scratch;
  const Problem problem{edges, lower, upper, static_cast<unsigned>(bins)};
  const Place place;
  const unsigned columns = kActive * (kByValue ? 256 : problem.bins);
  [[maybe_unused]] Duty duty(sync, counts, problem.bins * kActive);
  if (kDutyThreads > 0 && threadIdx.x >= kThreads) {
    duty.start();
    duty.clear();
    duty.await();
    duty.depart();
    tell_cleared();
    if constexpr (kClusterBlocks > 1) {
      cluster_barrier();
      cluster_barrier();
    }
    duty.finish();
    return;
  }
  const Samples all(samples, has_bins(problem) ? n * kChannels : 0);
  Walk walk(all, place.part, parts);
  if constexpr (ATTUNE_MERGE_DEPENDENT_TWO_PASS) let_next_step_start();
  const bool on_duty = kTicket && kDutyThreads == 0 && threadIdx.x >= kThreads - 32;
  if (on_duty) duty.start();
  unsigned* const words = reinterpret_cast<unsigned*>(dynamic);
  unsigned* const edge_scratch = words + range_columns * kReplicas / kCountersPerWord;
  SharedCounters counters(words, place.range * range_columns, range_columns, columns, counts, spill);
  counters.clear();
  if constexpr (!kByValue) Mapping::prepare(problem, scratch, edge_scratch);
  prepared_by_all();
  if (on_duty) duty.clear();
  if constexpr (ATTUNE_MERGE_ATOMIC_DEPENDENT && SharedCounters::kPacked) wait_for_step_before();  // counters may be handed on from now on
  const Mapping mapping(problem, scratch, edge_scratch);
  Counting<kByValue, SharedCounters> counting(problem, mapping, counters, weights);
  [[maybe_unused]] __shared__ unsigned frequent, hits;
  if constexpr (ATTUNE_AGGREGATE_FREQUENT) {
    if (threadIdx.x < 32) {
      const unsigned column = walk.holds_step() ? counting.most_frequent(walk.first_held()) : kNone;
      if (threadIdx.x == 0) {
        frequent = column;
        hits = 0;
      }
    }
    counting_barrier();
    counting.set_frequent(frequent);
  }
  count_part(all, walk, counting);
  if constexpr (ATTUNE_AGGREGATE_FREQUENT) {
    const unsigned of_warp = counting.hits_of_warp();
    if (lane_of_warp() == 0 && of_warp != 0) atomicAdd(&hits, of_warp);
    counting_barrier();
    if (threadIdx.x == 0 && frequent < counters.width && hits != 0) counters.add_many(frequent, hits);
  }
  if (on_duty) {
    duty.await();
    duty.depart();
  }
  if constexpr (ATTUNE_MERGE_ATOMIC_DEPENDENT && !SharedCounters::kPacked) wait_for_step_before();

  const size_t row_words = static_cast<size_t>(kRanges) * range_columns / (SharedCounters::kPacked && kClusterBlocks <= 2 ? 2 : 1);
  const Output output{problem, counts, kSecondPass ? partials + place.group * row_words : nullptr, columns};
  output.clear_unless_put(blockIdx.x * kThreads + threadIdx.x, gridDim.x * kThreads);
  counted_by_all();
  if constexpr (kClusterBlocks > 1) cluster_barrier();
  put_totals(counters, place, output);
  if constexpr (kClusterBlocks > 1) cluster_barrier();  // nobody leaves while others read its counters
  if (on_duty) duty.finish();
}
