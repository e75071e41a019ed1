#include "tuner/measure/timer.hpp"

#include <algorithm>
#include <cmath>

namespace attune::measure {
namespace {

constexpr double kLaunchUs = 2.5;      // host time of one launch, part of what a single timed call seems to take
constexpr double kLongEnough = 0.7;    // of the target: a batch that misses it by less is not captured again

}  // namespace

int Timer::calls_for(double call_us) const {
  const double wanted = std::ceil(batch_target_us(call_us) / std::max(call_us, 0.1));
  // Cold: every call of a batch has a window of its own, so that no input byte is read twice within it.
  const int most = policy_.cache == CachePolicy::Cold ? problem_->windows() : kMostCalls;
  return static_cast<int>(std::clamp(wanted, 1.0, static_cast<double>(std::min(most, kMostCalls))));
}

void Timer::enqueue_batch(Prepared& prepared, int calls) {
  const int others = problem_->windows() - 1;
  for (int call = 0; call < calls; ++call) {
    // The last call works on window 0, whose answer is known; those before it go round the other windows.
    const bool last = call + 1 == calls;
    const int window = last || others == 0 ? 0 : 1 + (prepared.first_window + call) % others;
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

double Timer::time_single(Prepared& prepared) {
  enqueue_batch(prepared, 1);  // lazily loaded code, first-touch faults
  start_.record(support_->stream());
  enqueue_batch(prepared, 1);
  end_.record(support_->stream());
  end_.synchronize();
  return gpu::elapsed_us(start_, end_);
}

std::optional<double> Timer::arm(Prepared& prepared, double hopeless_us) {
  prepared.call.load_constants(*support_, problem_->addresses(problem_->asked()));
  if (prepared.calibrated) return std::nullopt;
  // A single call's time includes the latency of its launches: most of it for the shortest kernels, little for others.
  const double single_us = time_single(prepared);
  const double launches_us = kLaunchUs * static_cast<double>(prepared.call.steps());
  const int calls = calls_for(std::max(single_us - launches_us, single_us / 8));
  capture(prepared, calls);
  const double call_us = sample(prepared);
  if (hopeless_us > 0 && call_us > hopeless_us) {
    prepared.calibrated = false;
    return call_us;
  }
  const int wanted = calls_for(call_us);
  if (static_cast<double>(calls) >= kLongEnough * static_cast<double>(wanted)) return call_us;
  capture(prepared, wanted);
  return std::nullopt;
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
