#include "bench/support/sorting_histogram.hpp"

#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>

#include <map>
#include <string>

#include "attune/error.hpp"

namespace attune::bench {
namespace {

/// Hands out again what was given back: allocating on every call would be timed too.
class KeepingAllocator {
 public:
  using value_type = char;
  KeepingAllocator() = default;
  KeepingAllocator(const KeepingAllocator&) = delete;
  KeepingAllocator& operator=(const KeepingAllocator&) = delete;
  ~KeepingAllocator() {
    for (const auto& [bytes, memory] : free_) cudaFree(memory);
    for (const auto& [memory, bytes] : used_) cudaFree(memory);
  }

  char* allocate(std::ptrdiff_t bytes) {
    if (const auto found = free_.lower_bound(bytes); found != free_.end()) {
      char* const memory = found->second;
      used_.emplace(memory, found->first);
      free_.erase(found);
      return memory;
    }
    void* memory = nullptr;
    const cudaError_t result = cudaMalloc(&memory, static_cast<std::size_t>(bytes));
    if (result != cudaSuccess) throw EnvironmentError("failed allocating " + std::to_string(bytes) + " bytes to sort: cudaMalloc returned " + cudaGetErrorName(result));
    used_.emplace(static_cast<char*>(memory), bytes);
    return static_cast<char*>(memory);
  }

  void deallocate(char* memory, std::size_t) {
    const auto found = used_.find(memory);
    free_.emplace(found->second, memory);
    used_.erase(found);
  }

 private:
  std::multimap<std::ptrdiff_t, char*> free_;
  std::map<char*, std::ptrdiff_t> used_;
};

/// Runs `work`; what Thrust throws becomes an error of ours.
template <class Work>
auto explained(const char* what, Work&& work) {
  try {
    return work();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& failure) {
    throw EnvironmentError(std::string("failed ") + what + ": Thrust said: " + failure.what());
  }
}

}  // namespace

struct SortingHistogram::State {
  explicit State(std::size_t n) : sorted(n), keys(n), runs(n) {}
  thrust::device_vector<std::int32_t> sorted;
  thrust::device_vector<std::int32_t> keys;
  thrust::device_vector<std::uint32_t> runs;
  std::size_t run_count = 0;
  KeepingAllocator memory;
};

SortingHistogram::SortingHistogram(std::int64_t n)
    : state_(explained("allocating memory to sort", [&] { return std::make_unique<State>(static_cast<std::size_t>(n)); })) {}

SortingHistogram::~SortingHistogram() = default;

void SortingHistogram::count(const std::int32_t* samples, CUstream_st* stream) {
  explained("counting by sorting", [&] {
    State& state = *state_;
    const auto policy = thrust::cuda::par_nosync(state.memory).on(stream);
    const std::size_t bytes = state.sorted.size() * sizeof(std::int32_t);
    const cudaError_t copied = cudaMemcpyAsync(thrust::raw_pointer_cast(state.sorted.data()), samples, bytes, cudaMemcpyDeviceToDevice, stream);
    if (copied != cudaSuccess) throw EnvironmentError(std::string("failed copying the samples: cudaMemcpyAsync returned ") + cudaGetErrorName(copied));
    thrust::sort(policy, state.sorted.begin(), state.sorted.end());
    const auto ends = thrust::reduce_by_key(policy, state.sorted.begin(), state.sorted.end(), thrust::constant_iterator<std::uint32_t>(1),
                                            state.keys.begin(), state.runs.begin());
    state.run_count = static_cast<std::size_t>(ends.first - state.keys.begin());
  });
}

std::vector<std::uint32_t> SortingHistogram::counts(std::int64_t bins) const {
  return explained("reading the counted runs", [&] {
    std::vector<std::int32_t> keys(state_->run_count);
    std::vector<std::uint32_t> runs(state_->run_count), result(static_cast<std::size_t>(bins));
    thrust::copy_n(state_->keys.begin(), keys.size(), keys.begin());
    thrust::copy_n(state_->runs.begin(), runs.size(), runs.begin());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (keys[i] < 0 || keys[i] >= bins) throw EnvironmentError("failed counting by sorting: a run of " + std::to_string(keys[i]) + " is of no bin");
      result[static_cast<std::size_t>(keys[i])] += runs[i];
    }
    return result;
  });
}

}  // namespace attune::bench
