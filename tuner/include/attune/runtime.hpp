#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "attune/arg_reduce.hpp"
#include "attune/error.hpp"
#include "attune/histogram.hpp"
#include "attune/kernel.hpp"
#include "attune/options.hpp"
#include "attune/reduce.hpp"
#include "attune/reproducible_reduce.hpp"
#include "attune/segmented_reduce.hpp"

namespace attune {

/// Counters of one Runtime, for tests and curiosity.
struct RuntimeCounters {
  std::uint64_t launches = 0;          ///< whose sizes and arguments were accepted; also those that the driver refused then
  std::uint64_t plans_built = 0;       ///< slow path: lookup, resolve, load
  std::uint64_t compiles = 0;          ///< NVRTC runs in this process
  std::uint64_t database_reads = 0;    ///< walks of the lookup through the database layers
  std::uint64_t tunings_started = 0;   ///< problems given to a tuning process (Options::on_miss)
  std::uint64_t tunings_finished = 0;  ///< of them, those that came to a result
  std::uint64_t tunings_failed = 0;    ///< of them, those that did not; notices() says why
  std::uint64_t exchanges = 0;         ///< calls of Options::agree
  std::uint64_t plans_diverged = 0;    ///< problems that ranks would have dispatched differently: the same on every rank
};

/// The dispatcher: opens the database layers read-only and hands out kernels. Thread-safe. No CUDA call happens before
/// the first launch, plan, prepare or explain. docs/dispatch.md is the long form.
class Runtime {
 public:
  /// Throws: only on misuse: UsageError (an Options path that does not exist, an unknown policy), DatabaseError (a file
  /// named in Options::databases cannot be read). A missing or damaged default database is no error: templates run
  /// with their defaults; `notices()` says so. EnvironmentError when it is to tune and there is no `attune`
  /// executable (Options::worker). The first of Options::databases may be missing then: tuning creates it.
  /// With Options::agree also AgreementError, on every rank, where one of them failed so.
  explicit Runtime(Options options = {});
  /// Ends a tuning process that runs (what it measured so far is stored), waits for the work of the contexts it
  /// launched in, then unloads its code and frees its scratch.
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// `choices`: a value for every type, choice and code axis of the template that has no default.
  /// Throws: UsageError (unknown template, axis or value), SpecError.
  [[nodiscard]] Kernel kernel(const std::string& name, const std::map<std::string, std::string>& choices);
  /// Front ends. Throws: UsageError when the operator, transform or finish is not of these elements, or an expression of
  /// the caller's is none; whether it compiles shows at the first launch. docs/reduction.md has what comes out.
  template <class T>
  [[nodiscard]] Reduce<T> reduce(Op op);
  template <class T>
  [[nodiscard]] Reduce<T> reduce(const Reduction& reduction);
  /// sum of a[i] * b[i]; another operator or finish may be given, but no transform.
  template <class T>
  [[nodiscard]] Dot<T> dot(const Reduction& reduction = {});
  /// The square root of the sum of squares. They are not scaled: beyond the square root of the greatest number they overflow.
  template <detail::FloatingElement T>
  [[nodiscard]] Reduce<T> norm2();
  /// The sum divided by n; NaN without an element.
  template <detail::FloatingElement T>
  [[nodiscard]] Reduce<T> mean();
  template <detail::FloatingElement T>
  [[nodiscard]] ReproducibleReduce<T> reproducible_reduce(Op op, const Reproducible& how = {});
  template <detail::FloatingElement T>
  [[nodiscard]] ReproducibleReduce<T> reproducible_reduce(const Reduction& reduction, const Reproducible& how = {});
  template <detail::FloatingElement T>
  [[nodiscard]] ReproducibleDot<T> reproducible_dot(const Reproducible& how = {}, const Reduction& reduction = {});
  template <class T>
  [[nodiscard]] ArgReduce<T> arg_reduce(ArgOp op);
  template <class T>
  [[nodiscard]] SegmentedReduce<T> segmented_reduce(Op op);
  /// Counts of samples in 1 to 2^24 bins, even or between edges; docs/histogram.md. Counters that may pass 2^32 need 8 bytes:
  /// those of 4 are modulo 2^32. Throws: UsageError for other numbers of bins.
  template <class Sample, class Counter = std::uint32_t>
  [[nodiscard]] Histogram<Sample, Counter> histogram(std::int64_t bins, Skew skew = Skew::Unknown);
  /// Sums of the samples' weights, in f32.
  template <class Sample>
  [[nodiscard]] WeightedHistogram<Sample> weighted_histogram(std::int64_t bins, Skew skew = Skew::Unknown);
  /// Counts pixels of 1 to 4 interleaved channels, the first `active` of which are counted: n is the number of pixels, and
  /// counts[c * bins + b] is bin b of channel c. All channels have the same bins.
  template <class Sample, class Counter = std::uint32_t>
  [[nodiscard]] Histogram<Sample, Counter> multi_histogram(std::int64_t bins, int channels, int active, Skew skew = Skew::Unknown);

  /// Waits until no problem is queued or being tuned; false when `timeout_s` passes first. A problem that waits for
  /// Options::tuning_share counts as queued.
  bool wait_for_tuning(double timeout_s) const;

  [[nodiscard]] RuntimeCounters counters() const;
  [[nodiscard]] std::vector<std::string> notices() const;

  struct State;  ///< implementation

 private:
  std::unique_ptr<State> state_;
};

template <class T>
Reduce<T> Runtime::reduce(Op op) {
  return reduce<T>(Reduction{.op = op});
}

template <class T>
Reduce<T> Runtime::reduce(const Reduction& reduction) {
  return Reduce<T>(kernel("reduce", detail::reduce_choices(reduction, detail::TypeName<T>::value, detail::Inputs::One)));
}

template <class T>
Dot<T> Runtime::dot(const Reduction& reduction) {
  return Dot<T>(kernel("reduce", detail::reduce_choices(reduction, detail::TypeName<T>::value, detail::Inputs::Two)));
}

template <detail::FloatingElement T>
Reduce<T> Runtime::norm2() {
  return reduce<T>(Reduction{.transform = Transform::Square, .finish = Finish::Root});
}

template <detail::FloatingElement T>
Reduce<T> Runtime::mean() {
  return reduce<T>(Reduction{.finish = Finish::Mean});
}

template <detail::FloatingElement T>
ReproducibleReduce<T> Runtime::reproducible_reduce(Op op, const Reproducible& how) {
  return reproducible_reduce<T>(Reduction{.op = op}, how);
}

template <detail::FloatingElement T>
ReproducibleReduce<T> Runtime::reproducible_reduce(const Reduction& reduction, const Reproducible& how) {
  const auto choices = detail::reproducible_choices(reduction, how, detail::TypeName<T>::value, detail::Inputs::One);
  return ReproducibleReduce<T>(kernel("reproducible_reduce", choices), how.resolution);
}

template <detail::FloatingElement T>
ReproducibleDot<T> Runtime::reproducible_dot(const Reproducible& how, const Reduction& reduction) {
  const auto choices = detail::reproducible_choices(reduction, how, detail::TypeName<T>::value, detail::Inputs::Two);
  return ReproducibleDot<T>(kernel("reproducible_reduce", choices), how.resolution);
}

template <class T>
ArgReduce<T> Runtime::arg_reduce(ArgOp op) {
  return ArgReduce<T>(kernel("argreduce", {{"T", detail::TypeName<T>::value}, {"op", op == ArgOp::Max ? "max" : "min"}}));
}

template <class T>
SegmentedReduce<T> Runtime::segmented_reduce(Op op) {
  return SegmentedReduce<T>(kernel("segmented_reduce", {{"T", detail::TypeName<T>::value}, {"op", detail::name(op)}}));
}

template <class Sample, class Counter>
Histogram<Sample, Counter> Runtime::histogram(std::int64_t bins, Skew skew) {
  return multi_histogram<Sample, Counter>(bins, 1, 1, skew);
}

template <class Sample>
WeightedHistogram<Sample> Runtime::weighted_histogram(std::int64_t bins, Skew skew) {
  return WeightedHistogram<Sample>(
      detail::histogram_kernels(*this, {.sample = detail::HistogramSample<Sample>::kName, .counter = "f32", .bins = bins, .skew = skew}));
}

template <class Sample, class Counter>
Histogram<Sample, Counter> Runtime::multi_histogram(std::int64_t bins, int channels, int active, Skew skew) {
  return Histogram<Sample, Counter>(detail::histogram_kernels(*this, {.sample = detail::HistogramSample<Sample>::kName,
                                                                      .counter = sizeof(Counter) == 4 ? "u32" : "u64",
                                                                      .bins = bins,
                                                                      .channels = channels,
                                                                      .active = active,
                                                                      .skew = skew}));
}

}  // namespace attune
