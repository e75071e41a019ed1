// Given edges: the bin of x is the last i with edges[i] <= x, while x < edges[i + 1]; as cub::DeviceHistogram::HistogramRange has it.

namespace {

using Value = attune::Element<T>::Value;

constexpr unsigned kBuckets = 2048;  ///< of the table; `edge_bytes` of template.json knows

/// The number of edges among the `count` from `first` on that are at most x.
__device__ __forceinline__ unsigned edges_up_to(const T* edges, unsigned first, unsigned count, Value x) {
  while (count > 0) {
    const unsigned half = count / 2;
    const bool above = attune::load_element(edges + first + half) <= x;
    first = above ? first + half + 1 : first;
    count = above ? count - half - 1 : half;
  }
  return first;
}

}  // namespace

/// The search "table" cuts the range into equal buckets: an entry says how many edges lie in the buckets before, and how many
/// up to the bucket's end. Few buckets hold an edge at all, so that most samples need one look.
struct Mapping {
  struct Scratch {};
  const T* edges;
  unsigned bins;
  Value lowest, highest;
  const unsigned* table;
  float per_unit;

  static __device__ float buckets_per_unit(Value lowest, Value highest) {
    return static_cast<float>(kBuckets) / distance(lowest, highest);
  }
  /// From `lowest` to a value above it; grows with it, as rounding keeps the order.
  static __device__ float distance(Value lowest, Value x) {
    if constexpr (attune::Element<T>::kFloating) return x - lowest;
    else return static_cast<float>(static_cast<unsigned>(x) - static_cast<unsigned>(lowest));
  }
  static __device__ unsigned bucket(Value lowest, float per_unit, Value x) {
    return min(static_cast<unsigned>(distance(lowest, x) * per_unit), kBuckets - 1);
  }

  static __device__ void prepare(const Problem& p, Scratch&, unsigned* scratch) {
    if constexpr (!ATTUNE_SEARCH_BINARY) {
      Bits* const staged = reinterpret_cast<Bits*>(scratch + (ATTUNE_SEARCH_TABLE ? kBuckets : 0));
      for (unsigned i = threadIdx.x; i <= p.bins; i += kThreads) staged[i] = reinterpret_cast<const Bits*>(p.edges)[i];
    }
    if constexpr (ATTUNE_SEARCH_TABLE) {
      const Value lowest = attune::load_element(p.edges), highest = attune::load_element(p.edges + p.bins);
      const float per_unit = buckets_per_unit(lowest, highest);
      // The edge in front of which a bucket begins: the first whose bucket is not below it.
      const auto edges_before = [&](unsigned which) {
        unsigned first = 0, count = p.bins + 1;
        while (count > 0) {
          const unsigned half = count / 2;
          const bool below = bucket(lowest, per_unit, attune::load_element(p.edges + first + half)) < which;
          first = below ? first + half + 1 : first;
          count = below ? count - half - 1 : half;
        }
        return first;
      };
      for (unsigned b = threadIdx.x; b < kBuckets; b += kThreads) scratch[b] = edges_before(b) | (b + 1 == kBuckets ? p.bins + 1 : edges_before(b + 1)) << 16;
    }
  }
  __device__ Mapping(const Problem& p, const Scratch&, const unsigned* scratch)
      : edges(ATTUNE_SEARCH_BINARY ? p.edges : reinterpret_cast<const T*>(scratch + (ATTUNE_SEARCH_TABLE ? kBuckets : 0))),
        bins(p.bins),
        lowest(attune::load_element(p.edges)),
        highest(attune::load_element(p.edges + p.bins)),
        table(scratch) {
    if constexpr (ATTUNE_SEARCH_TABLE) per_unit = buckets_per_unit(lowest, highest);
  }
  __device__ unsigned bin(Bits bits) const {
    const Value x = attune::Element<T>::widen(bits);
    if (!(x >= lowest && x < highest)) return kNone;
    if constexpr (ATTUNE_SEARCH_TABLE) {
      const unsigned entry = table[bucket(lowest, per_unit, x)];
      const unsigned first = entry & 0xffffu, end = entry >> 16;
      return edges_up_to(edges, first, end - first, x) - 1;
    }
    return edges_up_to(edges, 0, bins + 1, x) - 1;
  }
};

__device__ __noinline__ unsigned bin_of_value(const Problem& p, unsigned value) {
  const Value x = static_cast<Value>(value);
  if (!(x >= attune::load_element(p.edges) && x < attune::load_element(p.edges + p.bins))) return kNone;
  return edges_up_to(p.edges, 0, p.bins + 1, x) - 1;
}

/// Whether byte v is bin v, for all of them: never taken for granted of edges.
__device__ __forceinline__ bool values_are_bins(const Problem&) { return false; }

__device__ __forceinline__ bool has_bins(const Problem&) { return true; }
