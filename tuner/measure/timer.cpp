#include "tuner/measure/timer.hpp"

#include <algorithm>
#include <cmath>

namespace attune::measure {
namespace {

constexpr int kProbeCalls = 16;

}  // namespace

int Timer::calls_for(double call_us) const {
  const double wanted = std::ceil(batch_target_us(call_us) / std::max(call_us, 0.1));
  // Cold: every call of a batch has a window of its own, so that no input byte is read twice within it.
  const int most = policy_.cache == CachePolicy::Cold ? problem_->windows() : kMostCalls;
  return static_cast<int>(std::clamp(wanted, 1.0, static_cast<double>(std::min(most, kMostCalls))));
}

void Timer::enqueue_batch(Prepared& prepared, int calls) {
  for (int call = 0; call < calls; ++call) {
    const int window =
        (calls - 1 - call) % problem_->windows();  // the last call works on window 0, whose answer is known
    prepared.call.enqueue(prepared.windows[static_cast<std::size_t>(window)], support_->stream().get());
  }
}

void Timer::capture(Prepared& prepared, int calls) {
  prepared.calls = calls;
  prepared.calibrated = true;
  if (policy_.launch == LaunchMode::Stream) return;
  prepared.graph.reset();
  prepared.graph = gpu::Graph::capture(support_->stream(), [&] { enqueue_batch(prepared, calls); });
}

void Timer::arm(Prepared& prepared, double hopeless_us) {
  prepared.call.load_constants(*support_, problem_->addresses(problem_->asked()));
  if (prepared.calibrated) return;
  enqueue_batch(prepared, 1);  // lazily loaded code, first-touch faults
  start_.record(support_->stream());
  enqueue_batch(prepared, 1);
  end_.record(support_->stream());
  end_.synchronize();
  // Includes a launch's latency: an upper bound, exact for calls that need no batch.
  const double single_us = gpu::elapsed_us(start_, end_);
  if (calls_for(single_us) <= 1) {
    capture(prepared, 1);
    return;
  }
  const int most = policy_.cache == CachePolicy::Cold ? problem_->windows() : kProbeCalls;
  capture(prepared, std::min(kProbeCalls, most));
  const double call_us = std::min(sample(prepared), sample(prepared));
  if (hopeless_us > 0 && call_us > hopeless_us) {
    prepared.calibrated = false;
    return;
  }
  const int calls = calls_for(call_us);
  if (calls != prepared.calls) capture(prepared, calls);
}

double Timer::sample(Prepared& prepared) {
  const bool stream_mode = policy_.launch == LaunchMode::Stream;
  const gpu::Stream& stream = support_->stream();
  problem_->restore(problem_->asked(), DataSet::Random);
  const auto run_batch = [&] {
    stream_mode ? enqueue_batch(prepared, prepared.calls) : prepared.graph->launch(stream);
  };
  if (policy_.cache == CachePolicy::Cold) {
    support_->evict();
  } else {
    run_batch();  // warms the cache; as the eviction does otherwise, it also hides the latency of the graph's launch
  }
  if (stream_mode) stream.synchronize();  // every launch's host time counts, none is hidden
  start_.record(stream);
  run_batch();
  end_.record(stream);
  end_.synchronize();
  return gpu::elapsed_us(start_, end_) / prepared.calls;
}

}  // namespace attune::measure
