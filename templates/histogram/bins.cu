// What is counted: columns, one for every bin of every counted channel, side by side.
#include <attune/memory.cuh>
#include <attune/vector.cuh>

using T = attune_T;
using Counter = attune_Counter;
using Level = attune_L;
using Bits = attune::Element<T>::Bits;

template <bool Condition, class A, class B>
struct Choose {
  using Type = A;
};
template <class A, class B>
struct Choose<false, A, B> {
  using Type = B;
};

constexpr bool kWeighted = ATTUNE_COUNTER_F32;
constexpr unsigned kChannels = 1 + ATTUNE_CHANNELS_2 + 2 * ATTUNE_CHANNELS_3 + 3 * ATTUNE_CHANNELS_4;
constexpr unsigned kActive = ATTUNE_ACTIVE_ALL ? kChannels : ATTUNE_ACTIVE_1 + 2 * ATTUNE_ACTIVE_2 + 3 * ATTUNE_ACTIVE_3;
/// Bytes are counted by their value, 256 columns a channel; only counts that are merged have their bin looked up.
constexpr bool kByValue = ATTUNE_T_U8;
constexpr unsigned kNone = ~0u;  ///< no bin, no column

constexpr unsigned kThreads = ATTUNE_BLOCK_SIZE;
constexpr unsigned kItems = ATTUNE_ITEMS;
constexpr unsigned kVectorBytes = ATTUNE_VECTOR_BYTES;
constexpr unsigned kPerVector = kVectorBytes / sizeof(T);
constexpr unsigned kTile = kThreads * kItems;  ///< vectors
constexpr unsigned kClusterBlocks = ATTUNE_CLUSTER_BLOCKS;
constexpr unsigned kRanges = ATTUNE_RANGES;
constexpr unsigned kReplicas = ATTUNE_REPLICAS;
constexpr unsigned kCountersPerWord = 32 / ATTUNE_COUNTER_BITS;

constexpr bool kTicket = ATTUNE_MERGE_ATOMIC_TICKET;
constexpr bool kDirect = ATTUNE_MERGE_DIRECT;
constexpr bool kSecondPass = ATTUNE_MERGE_TWO_PASS || ATTUNE_MERGE_DEPENDENT_TWO_PASS;
/// Another warp, which does not count, sees to it that the counts are clear; blocks of 1024 threads have no room for it.
constexpr unsigned kDutyThreads = kTicket && kThreads < 1024 ? 32 : 0;

/// What a block counts in.
using Count = Choose<kWeighted, float, unsigned>::Type;

/// Where a problem's bins are, and how many; `bins` of one channel.
struct Problem {
  const T* edges;
  Level lower;
  Level upper;
  unsigned bins;
};

/// Bins of samples; even.cu and edges.cu have one each.
///   prepare(problem, scratch)   by all threads of a block that count, before a barrier; `scratch`: shared memory behind the counters
///   Mapping(problem, scratch)   after that barrier
///   bin(bits)                   below problem.bins, or kNone; of the mapping "unit" also above
///   all(bits, bins)             the same of several samples
struct Mapping;
