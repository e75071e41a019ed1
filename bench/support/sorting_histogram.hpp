#pragma once
#include <cstdint>
#include <memory>
#include <vector>

struct CUstream_st;

namespace attune::bench {

/// The peer for many bins: thrust::sort of a copy, then thrust::reduce_by_key that counts runs, both on the caller's stream
/// with memory that is kept between calls. reduce_by_key waits for the device to learn how many runs there are, so no
/// graph can hold it. One sample a bin: the sample is its bin.
class SortingHistogram {
 public:
  explicit SortingHistogram(std::int64_t n);
  ~SortingHistogram();
  SortingHistogram(const SortingHistogram&) = delete;
  SortingHistogram& operator=(const SortingHistogram&) = delete;

  /// Counts and waits. Throws: EnvironmentError.
  void count(const std::int32_t* samples, CUstream_st* stream);
  /// The result of the last count, a number for each bin. Throws: EnvironmentError, also when a run is of no bin.
  [[nodiscard]] std::vector<std::uint32_t> counts(std::int64_t bins) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace attune::bench
