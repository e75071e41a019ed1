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

/// Cuts lowest to highest into kBuckets buckets that ascend with x.
struct Buckets {
  Value lowest;
  Choose<attune::Element<T>::kFloating, float, unsigned>::Type scale;

  __device__ Buckets(Value low, Value high) : lowest(low) {
    if constexpr (attune::Element<T>::kFloating) {
      scale = static_cast<float>(kBuckets) / (high - low);
    } else {
      const unsigned range = static_cast<unsigned>(high) - static_cast<unsigned>(low);
      scale = range <= kBuckets ? ~0u : static_cast<unsigned>((static_cast<unsigned long long>(kBuckets) << 32) / range);
    }
  }
  /// Requires: x is not below the lowest.
  __device__ unsigned operator()(Value x) const {
    if constexpr (attune::Element<T>::kFloating) return min(static_cast<unsigned>((x - lowest) * scale), kBuckets - 1);
    else return min(__umulhi(static_cast<unsigned>(x) - static_cast<unsigned>(lowest), scale), kBuckets - 1);
  }
};

}  // namespace

/// The search "table" looks a sample's bucket up: how many edges lie in the buckets before, how many in this one (above bit 16),
/// and the first of those; without one an edge that every sample inside is below. Several of them are searched.
struct Mapping {
  struct Scratch {};
  const T* edges;
  unsigned bins;
  Value lowest, highest;
  const uint2* table;
  Buckets buckets;

  static __device__ void prepare(const Problem& p, Scratch&, unsigned* scratch) {
    if constexpr (!ATTUNE_SEARCH_BINARY) {
      Bits* const staged = reinterpret_cast<Bits*>(scratch + (ATTUNE_SEARCH_TABLE ? 2 * kBuckets : 0));
      for (unsigned i = threadIdx.x; i <= p.bins; i += kThreads) staged[i] = reinterpret_cast<const Bits*>(p.edges)[i];
    }
    if constexpr (ATTUNE_SEARCH_TABLE) {
      const Bits* const edges = reinterpret_cast<const Bits*>(p.edges);
      const auto edge = [&](unsigned i) { return attune::Element<T>::widen(edges[i]); };
      const Buckets buckets(edge(0), edge(p.bins));
      uint2* const table = reinterpret_cast<uint2*>(scratch);
      // A warp writes the buckets behind the edge before and up to this one; behind the last edge those that are left.
      for (unsigned i = threadIdx.x / 32; i <= p.bins + 1; i += kThreads / 32) {
        const unsigned begin = i == 0 ? 0 : buckets(edge(i - 1)) + 1;
        const unsigned end = i == p.bins + 1 ? kBuckets : buckets(edge(i));
        for (unsigned b = begin + threadIdx.x % 32; b < end; b += 32) table[b] = uint2{i, attune::Element<T>::narrow(attune::Element<T>::highest())};
        if (i == p.bins + 1 || end < begin) continue;  // not the first edge in its bucket
        unsigned edges_in_it = 1;
        while (i + edges_in_it <= p.bins && buckets(edge(i + edges_in_it)) == end) ++edges_in_it;
        if (threadIdx.x % 32 == 0) table[end] = uint2{i | edges_in_it << 16, edges[i]};
      }
    }
  }
  __device__ Mapping(const Problem& p, const Scratch&, const unsigned* scratch)
      : edges(ATTUNE_SEARCH_BINARY ? p.edges : reinterpret_cast<const T*>(scratch + (ATTUNE_SEARCH_TABLE ? 2 * kBuckets : 0))),
        bins(p.bins),
        lowest(attune::load_element(p.edges)),
        highest(attune::load_element(p.edges + p.bins)),
        table(reinterpret_cast<const uint2*>(scratch)),
        buckets(lowest, highest) {}
  __device__ unsigned bin(Bits bits) const {
    const Bits one[1] = {bits};
    unsigned bin[1];
    all(one, bin);
    return bin[0];
  }
  template <unsigned N>
  __device__ void all(const Bits (&bits)[N], unsigned (&bin)[N]) const {
    unsigned entries[N];
    bool several = false;
#pragma unroll
    for (unsigned k = 0; k < N; ++k) {
      const Value x = attune::Element<T>::widen(bits[k]);
      const bool inside = x >= lowest && x < highest;
      if constexpr (ATTUNE_SEARCH_TABLE) {
        const uint2 entry = table[inside ? buckets(x) : 0];
        const unsigned first_is_below = attune::Element<T>::widen(static_cast<Bits>(entry.y)) <= x;
        bin[k] = inside ? (entry.x & 0xffffu) + first_is_below - 1 : kNone;
        entries[k] = inside && first_is_below ? entry.x : 0;  // only then others may be below as well
        several = several || entries[k] >= 2u << 16;
      } else {
        bin[k] = inside ? edges_up_to(edges, 0, bins + 1, x) - 1 : kNone;
      }
    }
    if constexpr (ATTUNE_SEARCH_TABLE) {
      if (!several) return;
#pragma unroll
      for (unsigned k = 0; k < N; ++k) {
        if (entries[k] >= 2u << 16) bin[k] = searched(edges, (entries[k] & 0xffffu) + 1, (entries[k] >> 16) - 1, attune::Element<T>::widen(bits[k]));
      }
    }
  }

 private:
  /// A function of its own: it is rarely called, from many places.
  static __device__ __noinline__ unsigned searched(const T* edges, unsigned first, unsigned count, Value x) { return edges_up_to(edges, first, count, x) - 1; }
};

__device__ __noinline__ unsigned bin_of_value(const Problem& p, unsigned value) {
  const Value x = static_cast<Value>(value);
  if (!(x >= attune::load_element(p.edges) && x < attune::load_element(p.edges + p.bins))) return kNone;
  return edges_up_to(p.edges, 0, p.bins + 1, x) - 1;
}

/// Whether byte v is bin v, for all of them: never taken for granted of edges.
__device__ __forceinline__ bool values_are_bins(const Problem&) { return false; }

__device__ __forceinline__ bool has_bins(const Problem&) { return true; }
