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
  __device__ Walk(const Samples& samples, unsigned part, unsigned parts) {
    long long end = samples.vectors;
    if constexpr (ATTUNE_SCHEDULE_CHUNKS) {
      constexpr unsigned kLine = 128 / kVectorBytes;  // vectors that are fetched together
      const long long chunk = ((samples.vectors + parts - 1) / parts + kLine - 1) / kLine * kLine;
      at_ = min(end, part * chunk);
      end = min(end, at_ + chunk);
      step_ = kTile;
    } else {
      at_ = static_cast<long long>(part) * kTile;
      step_ = static_cast<long long>(parts) * kTile;
    }
    left_ = end - at_;
    from_ = samples.first + (at_ + threadIdx.x) * kVectorBytes;
    there_ = load(held_);
    if (part + 1 == parts && threadIdx.x < samples.loose()) {
      loose_index_ = samples.loose_index(threadIdx.x);
      loose_ = attune::load_vector<sizeof(T)>(attune::address_of(samples.start + loose_index_));
    }
  }
  /// Whether all threads hold vectors of a whole step, the first of which this is.
  [[nodiscard]] __device__ bool holds_step() const { return there_ == kTile; }
  [[nodiscard]] __device__ const Vec& first_held() const { return held_[0]; }
  /// step(vectors, index of the first, how many there are): thread t holds vectors t, t + kThreads, ... of a step, those below their number; in
  /// a whole step that is kTile. between() after each step; loose(bits, index) for a loose sample.
  template <class Step, class Between, class Loose>
  __device__ void run(Step step, Between between, Loose loose) {
    while (there_ != 0) {
      unsigned there;
      if constexpr (ATTUNE_PREFETCH) {
        Vec coming[kItems];
        there = load(coming);
        step(held_, at_ + threadIdx.x, there_);
#pragma unroll
        for (unsigned i = 0; i < kItems; ++i) held_[i] = coming[i];
      } else {
        step(held_, at_ + threadIdx.x, there_);
        there = load(held_);
      }
      between();
      at_ += step_;
      there_ = there;
    }
    if (loose_index_ >= 0) loose(attune::element_bits<T>(loose_, 0), loose_index_);
  }

 private:
  /// The step behind the last one loaded, as far as it is there: one way for whole steps and for ragged ones. Returns how many vectors that is.
  __device__ unsigned load(Vec (&into)[kItems]) {
    const auto there = static_cast<int>(max(0ll, min(static_cast<long long>(kTile), left_)));
    const int behind = there - static_cast<int>(threadIdx.x);
#pragma unroll
    for (unsigned i = 0; i < kItems; ++i) attune::load_vector_if<kVectorBytes>(behind > static_cast<int>(i * kThreads), from_ + i * kThreads * kVectorBytes, into[i]);
    from_ += step_ * kVectorBytes;
    left_ -= step_;
    return there;
  }

  attune::Address from_;  ///< of this thread's first vector of the step to load next
  long long left_;        ///< vectors from the first of that step on
  long long step_;
  long long at_;          ///< the first vector of the step held
  unsigned there_;        ///< vectors that the block holds
  Vec held_[kItems];
  attune::Vector<sizeof(T)> loose_;
  long long loose_index_ = -1;  ///< none
};
