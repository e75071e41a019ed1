#pragma once
#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <type_traits>

#include "attune/kernel.hpp"

namespace attune {

class Runtime;

/// How samples lie in the bins, where the program knows: it is what is tuned for, and never changes a count. Of Unknown the
/// best worst case is tuned; a skew without results of its own is dispatched with those of Unknown. docs/histogram.md.
enum class Skew {
  Unknown,
  Uniform,   ///< every bin alike
  Zipf,      ///< few bins have most
  Hot,       ///< 90 % in one bin
  Constant,  ///< all in one bin
  Sorted,    ///< ascending
};

namespace detail {

/// What bounds of integers may be: from `least`, the upper one up to one above `greatest`.
struct LevelRange {
  const char* sample;
  std::int64_t least, greatest;
};

/// What histograms count: the template's word for it, and what bounds are given in.
template <class T>
struct HistogramSample;
template <std::unsigned_integral T>
requires(!std::is_same_v<T, bool> && sizeof(T) <= 2) struct HistogramSample<T> {
  static constexpr const char* kName = sizeof(T) == 1 ? "u8" : "u16";
  using Level = std::int32_t;
  static constexpr LevelRange kRange{kName, std::numeric_limits<Level>::min(), std::numeric_limits<Level>::max()};
};
template <std::integral T>
requires(sizeof(T) == 4) struct HistogramSample<T> {
  static constexpr const char* kName = std::is_signed_v<T> ? "i32" : "u32";
  using Level = std::int64_t;
  static constexpr LevelRange kRange{kName, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
};
template <>
struct HistogramSample<float> {
  static constexpr const char* kName = "f32";
  using Level = float;
};

template <class T>
concept CountedSample = requires {
  HistogramSample<T>::kName;
};
template <class T>
concept SampleCounter = std::unsigned_integral<T> &&(sizeof(T) == 4 || sizeof(T) == 8);

/// How a sample finds its bin: bins of one integer, of a power of two of them, of equal width, between given edges.
enum class Mapping { Unit, Shift, Scaled, Edges };

struct HistogramDescription {
  std::string sample;
  std::string counter;
  std::int64_t bins = 0;
  int channels = 1;
  int active = 1;
  Skew skew = Skew::Unknown;
};

/// The choices of the template "histogram". Throws: UsageError (bins below 1 or above 2^24, channels that are not there).
[[nodiscard]] std::map<std::string, std::string> histogram_choices(const HistogramDescription& description, Mapping mapping);

/// Even bins between bounds. Throws: UsageError (lower >= upper; integers out of `range`; floats that are NaN or infinite,
/// or so far apart or near that f32 has no factor from their distance to the bins).
[[nodiscard]] Mapping even_mapping(const LevelRange& range, std::int64_t lower, std::int64_t upper, std::int64_t bins);
[[nodiscard]] Mapping even_mapping(float lower, float upper, std::int64_t bins);

/// The template's kernels, one for each mapping; floating-point samples have no unit and shift, and scaled stands there.
struct HistogramKernels {
  Kernel unit, shift, scaled, edges;
  std::int64_t bins;
};
[[nodiscard]] HistogramKernels histogram_kernels(Runtime& runtime, const HistogramDescription& description);

/// What plain and weighted histograms have in common; thread-safe, cheap to copy, valid while the Runtime lives.
template <CountedSample Sample>
class HistogramPlans {
 public:
  /// The type of bounds: int for 8- and 16-bit samples, std::int64_t for 32-bit integers, float for float.
  using Level = typename HistogramSample<Sample>::Level;
  explicit HistogramPlans(const HistogramKernels& kernels) : kernels_(kernels) {}
  [[nodiscard]] std::int64_t bins() const { return kernels_.bins; }
  /// Builds and loads what even(), of any bounds, and with_edges() launch at n; needed before stream capture.
  void prepare(std::int64_t n) const {
    for (const Kernel* kernel : {&kernels_.unit, &kernels_.shift, &kernels_.scaled}) kernel->prepare({n, bins()});
  }
  void prepare_edges(std::int64_t n) const { kernels_.edges.prepare({n, bins()}); }
  /// A fixed choice for n, to be launched with arguments() and a workspace of the caller's, also under capture.
  /// Requires: arguments() with these very bounds; others may be of another mapping, whose counts would be wrong.
  /// Throws: UsageError for bounds that even() refuses.
  [[nodiscard]] Plan plan_even(std::int64_t n, Level lower, Level upper) const { return even_kernel(lower, upper).plan({n, bins()}); }
  [[nodiscard]] Plan plan_edges(std::int64_t n) const { return kernels_.edges.plan({n, bins()}); }
  /// What even() and with_edges() would use, without loading anything.
  [[nodiscard]] Decision explain_even(std::int64_t n, Level lower, Level upper) const {
    return even_kernel(lower, upper).explain({n, bins()});
  }
  [[nodiscard]] Decision explain_edges(std::int64_t n) const { return kernels_.edges.explain({n, bins()}); }
  /// The same on a device that need not be here, as Kernel::explain_on.
  [[nodiscard]] Decision explain_on(const std::string& device, std::int64_t n, Level lower, Level upper) const {
    return even_kernel(lower, upper).explain_on(device, {n, bins()});
  }
  [[nodiscard]] Decision explain_edges_on(const std::string& device, std::int64_t n) const {
    return kernels_.edges.explain_on(device, {n, bins()});
  }
  /// For the mapping that the bounds ask for.
  [[nodiscard]] const Kernel& even_kernel(Level lower, Level upper) const {
    Mapping mapping = Mapping::Scaled;
    if constexpr (std::is_same_v<Sample, float>) {
      mapping = even_mapping(lower, upper, bins());
    } else {
      mapping = even_mapping(HistogramSample<Sample>::kRange, lower, upper, bins());
    }
    return mapping == Mapping::Unit ? kernels_.unit : mapping == Mapping::Shift ? kernels_.shift : kernels_.scaled;
  }
  [[nodiscard]] const Kernel& edges_kernel() const { return kernels_.edges; }

 protected:
  static std::array<Argument, 6> all_arguments(const Sample* samples, const Sample* edges, const float* weights, void* counts, Level lower,
                                               Level upper) {
    return {Argument::pointer(samples), Argument::pointer(edges), Argument::pointer(weights),
            Argument::pointer(counts),  Argument::scalar(lower),  Argument::scalar(upper)};
  }
  void launch(const Kernel& kernel, std::int64_t n, const std::array<Argument, 6>& arguments, Stream stream) const {
    const std::int64_t sizes[] = {n, bins()};
    kernel.launch(sizes, 2, arguments.data(), arguments.size(), stream);
  }

 private:
  HistogramKernels kernels_;
};

}  // namespace detail

/// Typed front end of the template `histogram`: counts of samples in bins, those of cub::DeviceHistogram. Sample is
/// an unsigned integer of 1 or 2 bytes, an integer of 4, or float; Counter an unsigned integer of 4 or 8 bytes.
/// Runtime::histogram and multi_histogram make it. docs/histogram.md has what is counted where, who owns scratch, and what
/// may run at the same time.
template <detail::CountedSample Sample, detail::SampleCounter Counter>
class Histogram : public detail::HistogramPlans<Sample> {
 public:
  using detail::HistogramPlans<Sample>::HistogramPlans;
  using typename detail::HistogramPlans<Sample>::Level;
  /// counts[0..bins) = how many samples lie in each of `bins` bins of equal width from `lower` to below `upper`. All counts are
  /// set, whatever was there; samples outside and NaN count nowhere.
  /// Shapes:   n samples from 0 up, of a multi-channel histogram n pixels; device addresses, aligned to their elements.
  /// Requires: as Kernel::launch. Throws: the same; UsageError also for bounds that are none: lower >= upper, NaN or
  ///           infinite, or of a 32-bit sample not in its range (upper: one above its greatest value at most).
  void even(const Sample* samples, std::int64_t n, Level lower, Level upper, Counter* counts, Stream stream) const {
    this->launch(this->even_kernel(lower, upper), n, arguments(samples, lower, upper, counts), stream);
  }
  /// The same in bins between `edges`, bins + 1 ascending values on the device: a sample counts in bin i when
  /// edges[i] <= x < edges[i + 1]. They are not checked: not ascending, or NaN, they give unspecified counts.
  void with_edges(const Sample* samples, std::int64_t n, const Sample* edges, Counter* counts, Stream stream) const {
    this->launch(this->edges_kernel(), n, arguments(samples, edges, counts), stream);
  }
  /// What a Plan of plan_even(n, lower, upper) is launched with, and what one of plan_edges(n) is.
  [[nodiscard]] static std::array<Argument, 6> arguments(const Sample* samples, Level lower, Level upper, Counter* counts) {
    return Histogram::all_arguments(samples, nullptr, nullptr, counts, lower, upper);
  }
  [[nodiscard]] static std::array<Argument, 6> arguments(const Sample* samples, const Sample* edges, Counter* counts) {
    return Histogram::all_arguments(samples, edges, nullptr, counts, 0, 0);
  }
};

/// The same, where every sample counts with its weight: sums[b] is the sum of weights[i] of the samples i in bin b, added
/// in any order (the last bits may differ from run to run). Runtime::weighted_histogram makes it.
template <detail::CountedSample Sample>
class WeightedHistogram : public detail::HistogramPlans<Sample> {
 public:
  using detail::HistogramPlans<Sample>::HistogramPlans;
  using typename detail::HistogramPlans<Sample>::Level;
  /// `weights`: one of each sample. All else as Histogram.
  void even(const Sample* samples, const float* weights, std::int64_t n, Level lower, Level upper, float* sums, Stream stream) const {
    this->launch(this->even_kernel(lower, upper), n, arguments(samples, weights, lower, upper, sums), stream);
  }
  void with_edges(const Sample* samples, const float* weights, std::int64_t n, const Sample* edges, float* sums, Stream stream) const {
    this->launch(this->edges_kernel(), n, arguments(samples, weights, edges, sums), stream);
  }
  /// The arguments of a launch through a Plan.
  [[nodiscard]] static std::array<Argument, 6> arguments(const Sample* samples, const float* weights, Level lower, Level upper,
                                                         float* sums) {
    return WeightedHistogram::all_arguments(samples, nullptr, weights, sums, lower, upper);
  }
  [[nodiscard]] static std::array<Argument, 6> arguments(const Sample* samples, const float* weights, const Sample* edges, float* sums) {
    return WeightedHistogram::all_arguments(samples, edges, weights, sums, 0, 0);
  }
};

}  // namespace attune
