#include "bench/support/batch.hpp"

#include <algorithm>
#include <cmath>

#include "attune/error.hpp"
#include "bench/support/kernels.hpp"

namespace attune::bench {
namespace {

constexpr int kMostCalls = 2000;
constexpr int kProbeCalls = 16;
constexpr double kShortCallUs = 10;
constexpr double kShortCallBatchUs = 1000;
constexpr double kBatchUs = 200;
/// No call is faster than a launch in a graph, none reads faster than this.
constexpr double kLeastCallUs = 1;
constexpr double kMostBytesPerUs = 10e6;
constexpr std::int64_t kEvictionsOfL2 = 4;
constexpr std::size_t kLeastEvictBytes = std::size_t{64} << 20;
constexpr ReadShape kEvictShape{256, 4, 8};

std::size_t evict_bytes(const spec::DeviceInfo& device) {
  const auto wanted = static_cast<std::size_t>(kEvictionsOfL2 * device.l2_bytes + 15) / 16 * 16;
  return std::max(kLeastEvictBytes, wanted);
}

/// How many calls of this length make a sample.
double calls_of_a_sample(double call_us) { return std::ceil((call_us < kShortCallUs ? kShortCallBatchUs : kBatchUs) / call_us); }

}  // namespace

std::int64_t most_windows(std::size_t window_bytes) {
  return static_cast<std::int64_t>(calls_of_a_sample(std::max(kLeastCallUs, static_cast<double>(window_bytes) / kMostBytesPerUs)));
}

Sampler::Sampler(const gpu::Stream& stream, const spec::DeviceInfo& device)
    : stream_(&stream), sm_count_(device.sm_count), evict_(evict_bytes(device)), sink_(sizeof(unsigned)) {
  const auto result = gpu::Driver::get().cuMemsetD8Async(evict_.address(), 1, evict_.bytes(), stream.get());
  gpu::check(result, "cuMemsetD8Async", "preparing the memory that evicts the L2");
}

void Sampler::evict() const {
  read(reinterpret_cast<const void*>(evict_.address()), evict_.bytes(), kEvictShape, sm_count_,
       reinterpret_cast<unsigned*>(sink_.address()), stream_->get());
}

Batch::Batch(const Sampler& sampler, measure::CachePolicy policy, std::int64_t windows, Enqueue enqueue)
    : sampler_(&sampler),
      policy_(policy),
      windows_(policy == measure::CachePolicy::Hot ? kMostCalls : windows),
      enqueue_(std::move(enqueue)) {
  if (windows_ < 1) throw EnvironmentError("not measured: the input does not fit the data");
  enqueue_(0);  // loads code that the driver loads lazily
  sampler_->stream().synchronize();
  const int most = static_cast<int>(std::min<std::int64_t>(windows_, kMostCalls));
  capture(std::min(kProbeCalls, most));
  const double call_us = std::min(sample_us(), sample_us());
  capture(static_cast<int>(std::clamp(calls_of_a_sample(std::max(call_us, 0.1)), 1.0, static_cast<double>(most))));
}

void Batch::capture(int calls) {
  graph_.reset();
  graph_ = gpu::Graph::capture(sampler_->stream(), [&] {
    for (int call = calls - 1; call >= 0; --call) enqueue_(policy_ == measure::CachePolicy::Hot ? 0 : call);
  });
  calls_ = calls;
}

double Batch::sample_us() const {
  const gpu::Stream& stream = sampler_->stream();
  // Either step also keeps the device busy while the host launches the graph, whose latency is not to be measured.
  if (policy_ == measure::CachePolicy::Cold)
    sampler_->evict();
  else
    graph_->launch(stream);
  sampler_->start_.record(stream);
  graph_->launch(stream);
  sampler_->end_.record(stream);
  sampler_->end_.synchronize();
  return gpu::elapsed_us(sampler_->start_, sampler_->end_) / calls_;
}

}  // namespace attune::bench
