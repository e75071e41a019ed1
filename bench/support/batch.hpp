#pragma once
#include <cstdint>
#include <functional>
#include <optional>

#include "tuner/gpu/handles.hpp"
#include "tuner/measure/measurement.hpp"

namespace attune::bench {

/// Enqueues one call on the window of that index.
using Enqueue = std::function<void(std::int64_t window)>;

/// Evicts the L2 and times batches, as docs/measurement.md describes. One per stream.
class Sampler {
 public:
  Sampler(const gpu::Stream& stream, const spec::DeviceInfo& device);
  /// Reads at least four times the L2.
  void evict() const;
  [[nodiscard]] const gpu::Stream& stream() const noexcept { return *stream_; }

 private:
  friend class Batch;
  const gpu::Stream* stream_;
  int sm_count_;
  gpu::Buffer evict_;
  gpu::Buffer sink_;
  gpu::Event start_;
  gpu::Event end_;
};

/// How many windows of this size a cold sample uses at most, however fast its calls are: more need not be filled.
[[nodiscard]] std::int64_t most_windows(std::size_t window_bytes);

/// A graph of so many calls that one sample lasts 200 us, or 1 ms when a call takes under 10 us. Cold: every call has a
/// window of its own, which limits their number. Hot: every call has window 0. The last call works on window 0.
class Batch {
 public:
  /// Runs the call a few times to learn how long it takes. Throws: EnvironmentError when there is no window.
  Batch(const Sampler& sampler, measure::CachePolicy policy, std::int64_t windows, Enqueue enqueue);
  /// Time of one call of one batch. Units: microseconds. Cold: evicts first. Hot: runs the batch once before.
  [[nodiscard]] double sample_us() const;
  [[nodiscard]] int calls() const noexcept { return calls_; }

 private:
  void capture(int calls);
  const Sampler* sampler_;
  measure::CachePolicy policy_;
  std::int64_t windows_;
  Enqueue enqueue_;
  int calls_ = 0;
  std::optional<gpu::Graph> graph_;
};

}  // namespace attune::bench
