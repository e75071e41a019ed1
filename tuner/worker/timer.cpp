#include "tuner/worker/timer.hpp"

#include <algorithm>
#include <cmath>

namespace attune::worker {
namespace {

constexpr double kLaunchUs = 2.5;    // host time of one launch, part of what a single timed call seems to take
constexpr double kLongEnough = 0.7;  // of the target: a batch that misses it by less is not captured again

}  // namespace

int Timer::calls_for(double call_us) const {
  const double wanted = std::ceil(measure::batch_target_us(call_us) / std::max(call_us, 0.1));
  // Cold: every call of a batch has a window of its own, so that no input byte is read twice within it.
  const int most = policy_.cache == measure::CachePolicy::Cold ? problem_->windows().each : kMostCalls;
  return static_cast<int>(std::clamp(wanted, 1.0, static_cast<double>(std::min(most, kMostCalls))));
}

void Timer::enqueue_batch(Prepared& prepared, int group, int calls) {
  for (int call = 0; call < calls; ++call) {
    const int window = problem_->windows().window_of(group, call, calls, prepared.first_window);
    prepared.call.enqueue(prepared.windows[static_cast<std::size_t>(window)], support_->stream().get());
  }
}

void Timer::capture(Prepared& prepared, int group, int calls) {
  Batch& batch = prepared.batches[static_cast<std::size_t>(group)];
  batch.calls = calls;
  if (policy_.launch == measure::LaunchMode::Stream) return;
  batch.graph.reset();
  batch.graph = gpu::Graph::capture(support_->stream(), [&] { enqueue_batch(prepared, group, calls); });
}

double Timer::time_single(Prepared& prepared, int group) {
  enqueue_batch(prepared, group, 1);  // lazily loaded code, first-touch faults
  start_.record(support_->stream());
  enqueue_batch(prepared, group, 1);
  end_.record(support_->stream());
  end_.synchronize();
  return gpu::elapsed_us(start_, end_);
}

std::optional<double> Timer::arm(Prepared& prepared, double hopeless_us, double known_us) {
  if (prepared.calibrated) return std::nullopt;
  prepared.hopeless_us = hopeless_us;
  Armed all{0, true};
  for (int group = 0; group < problem_->windows().groups; ++group) {
    const Armed armed = arm_group(prepared, group, group == 0 ? known_us : 0);  // other groups may take far longer
    if (hopeless_us > 0 && armed.confirmed && armed.call_us > hopeless_us) return armed.call_us;
    all = {std::max(all.call_us, armed.call_us), all.confirmed && armed.confirmed};
  }
  prepared.calibrated = true;
  return all.confirmed ? std::make_optional(all.call_us) : std::nullopt;
}

Timer::Armed Timer::arm_group(Prepared& prepared, int group, double known_us) {
  // A single call's time includes the latency of its launches: most of it for the shortest kernels, little for others. Of a known call
  // the device may have had enough to do to hide it; where it could be a large part, one is timed whose latency is known.
  const double launches_us = kLaunchUs * static_cast<double>(prepared.call.steps());
  const bool is_known = known_us > 0 && launches_us <= (1 - kLongEnough) * known_us;
  const double single_us = is_known ? known_us : time_single(prepared, group);
  const int calls = calls_for(is_known ? known_us : std::max(single_us - launches_us, single_us / 8));
  capture(prepared, group, calls);
  const double call_us = sample_group(prepared, group);
  const int wanted = calls_for(call_us);
  if (static_cast<double>(calls) >= kLongEnough * static_cast<double>(wanted)) return {call_us, true};
  capture(prepared, group, wanted);
  return {call_us, false};
}

void Timer::enqueue(Prepared& prepared) {
  const Batch& batch = prepared.batches.front();
  policy_.launch == measure::LaunchMode::Stream ? enqueue_batch(prepared, 0, batch.calls) : batch.graph->launch(support_->stream());
}

double Timer::sample(Prepared& prepared) {
  double slowest_us = 0;
  for (int group = 0; group < problem_->windows().groups; ++group) {
    // Arming ended at the group that was hopeless; what is not hopeless this time has to be known on every group.
    if (prepared.batches[static_cast<std::size_t>(group)].calls == 0) arm_group(prepared, group);
    slowest_us = std::max(slowest_us, sample_group(prepared, group));
    if (!prepared.calibrated && prepared.hopeless_us > 0 && slowest_us > prepared.hopeless_us) break;
  }
  return slowest_us;
}

double Timer::sample_group(Prepared& prepared, int group) {
  const bool stream_mode = policy_.launch == measure::LaunchMode::Stream;
  const gpu::Stream& stream = support_->stream();
  const Batch& batch = prepared.batches[static_cast<std::size_t>(group)];
  if (group == 0) problem_->data().restore(problem_->data().asked(), verify::kRandom);  // window 0 is of this group
  const auto run_batch = [&] { stream_mode ? enqueue_batch(prepared, group, batch.calls) : batch.graph->launch(stream); };
  if (policy_.cache == measure::CachePolicy::Cold) {
    support_->evict();
  } else {
    run_batch();  // warms the cache; as the eviction does otherwise, it also hides the latency of the graph's launch
  }
  if (stream_mode) stream.synchronize();  // every launch's host time counts, none is hidden
  start_.record(stream);
  run_batch();
  end_.record(stream);
  end_.synchronize();
  return gpu::elapsed_us(start_, end_) / batch.calls;
}

}  // namespace attune::worker
