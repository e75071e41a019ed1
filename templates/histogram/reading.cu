// A part of the samples, as one block reads it: vectors of kVectorBytes bytes from the first address that they can be loaded
// from, kItems of them a thread and step; the few samples before and behind them one by one.

using Vec = attune::Vector<kVectorBytes>;

/// The samples of all channels in a row.
struct Samples {
  const T* start;
  long long count;
  unsigned before;    ///< samples in front of the first vector
  long long vectors;
  attune::Address first;  ///< address of the first vector

  __device__ Samples(const T* samples, long long total) : start(samples), count(total) {
    const attune::Address at = attune::address_of(samples);
    const unsigned bytes = attune::bytes_to_vector<kVectorBytes>(at);
    before = static_cast<unsigned>(min(static_cast<long long>(bytes / sizeof(T)), total));
    first = at + bytes;
    vectors = (total - before) / kPerVector;
  }
  /// Of the first sample of a vector.
  __device__ long long index_of(long long vector) const { return before + vector * kPerVector; }
  /// The samples that no vector holds, by position among them.
  __device__ unsigned loose() const { return static_cast<unsigned>(count - vectors * kPerVector); }
  __device__ long long loose_index(unsigned i) const { return i < before ? i : i + vectors * kPerVector; }
};

/// The way of part `part` of `parts` through the vectors; the last part has the loose samples too. Requires: kThreads threads.
/// What a thread will read first is under way from here on.
class Walk {
 public:
  __device__ Walk(const Samples& samples, unsigned part, unsigned parts) : first_(samples.first) {
    if constexpr (ATTUNE_SCHEDULE_CHUNKS) {
      constexpr unsigned kLine = 128 / kVectorBytes;  // vectors that are fetched together
      const long long chunk = ((samples.vectors + parts - 1) / parts + kLine - 1) / kLine * kLine;
      at_ = min(samples.vectors, part * chunk);
      end_ = min(samples.vectors, at_ + chunk);
      step_ = kTile;
    } else {
      at_ = static_cast<long long>(part) * kTile;
      end_ = samples.vectors;
      step_ = static_cast<long long>(parts) * kTile;
    }
    load(held_, at_);
    if (part + 1 == parts && threadIdx.x < samples.loose()) {
      loose_index_ = samples.loose_index(threadIdx.x);
      loose_ = attune::load_vector<sizeof(T)>(attune::address_of(samples.start + loose_index_));
    }
  }
  /// Whether all threads hold vectors of a whole step, the first of which this is.
  [[nodiscard]] __device__ bool holds_step() const { return at_ + kTile <= end_; }
  [[nodiscard]] __device__ const Vec& first_held() const { return held_[0]; }
  /// step(vectors, index of the first, how many there are): thread t holds vectors t, t + kThreads, ... of a step, those below their number; in
  /// a whole step that is kTile. between() after each step; loose(bits, index) for a loose sample.
  template <class Step, class Between, class Loose>
  __device__ void run(Step step, Between between, Loose loose) {
    while (at_ < end_) {
      const long long next = at_ + step_;
      const unsigned there = left_at(at_);
      if constexpr (ATTUNE_PREFETCH) {
        Vec coming[kItems];
        load(coming, next);
        step(held_, at_ + threadIdx.x, there);
#pragma unroll
        for (unsigned i = 0; i < kItems; ++i) held_[i] = coming[i];
      } else {
        step(held_, at_ + threadIdx.x, there);
        load(held_, next);
      }
      between();
      at_ = next;
    }
    if (loose_index_ >= 0) loose(attune::element_bits<T>(loose_, 0), loose_index_);
  }

 private:
  /// Vectors of the step at `at`.
  [[nodiscard]] __device__ unsigned left_at(long long at) const {
    return static_cast<unsigned>(max(0ll, min(static_cast<long long>(kTile), end_ - at)));
  }
  /// Those that are there: one way for whole steps and for ragged ones.
  __device__ void load(Vec (&into)[kItems], long long at) const {
    const attune::Address from = first_ + (at + threadIdx.x) * kVectorBytes;
    const unsigned left = left_at(at);
#pragma unroll
    for (unsigned i = 0; i < kItems; ++i) attune::load_vector_if<kVectorBytes>(i * kThreads + threadIdx.x < left, from + i * kThreads * kVectorBytes, into[i]);
  }

  attune::Address first_;
  long long at_, end_, step_;
  Vec held_[kItems];
  attune::Vector<sizeof(T)> loose_;
  long long loose_index_ = -1;  ///< none
};
