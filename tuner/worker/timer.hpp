#pragma once
#include <optional>

#include "tuner/worker/prepared.hpp"

namespace attune::worker {

/// Takes samples: one sample is the time of a batch of calls divided by their number
/// (docs/decisions/0004-measuring.md).
class Timer {
 public:
  Timer(verify::Support& support, GpuProblem& problem, const measure::Policy& policy)
      : support_(&support), problem_(&problem), policy_(policy) {}

  /// Warms up, finds the number of calls a batch of each group of windows needs and captures it; does nothing when already
  /// armed. Returns the sample that confirmed the batches, when one was taken: it is as good as any other.
  /// `hopeless_us`: a configuration that turns out slower, on any group, keeps a short batch, good enough to drop it; 0: none.
  /// `known_us`: what a call took on the first group's data that was warm-up enough; 0: none was made.
  std::optional<double> arm(Prepared& prepared, double hopeless_us, double known_us = 0);
  /// On the group of windows that takes longest; of a configuration that is found hopeless again, on the groups until then.
  /// Units: microseconds per call. Requires: armed. Waits.
  [[nodiscard]] double sample(Prepared& prepared);
  /// Puts the calls of one sample of the first group of windows on the stream, as they are: nothing is restored, evicted or waited for.
  /// Requires: armed.
  void enqueue(Prepared& prepared);

 private:
  struct Armed {
    double call_us = 0;
    bool confirmed = false;  ///< the batch that is captured is the one that was timed
  };
  Armed arm_group(Prepared& prepared, int group, double known_us = 0);
  [[nodiscard]] double sample_group(Prepared& prepared, int group);
  void capture(Prepared& prepared, int group, int calls);
  void enqueue_batch(Prepared& prepared, int group, int calls);
  [[nodiscard]] int calls_for(double call_us) const;
  [[nodiscard]] double time_single(Prepared& prepared, int group);

  verify::Support* support_;
  GpuProblem* problem_;
  measure::Policy policy_;
  gpu::Event start_;
  gpu::Event end_;
};

}  // namespace attune::worker
