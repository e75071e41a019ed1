#pragma once
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/support/cub_histogram.hpp"
#include "bench/support/skewed_samples.hpp"

namespace attune::bench {

/// Whether the caller tells attune how the samples are spread.
enum class SkewIs { Stated, Unknown };

/// One problem of bench/histogram_vs_cub: what attune is asked, and what CUB is.
struct HistogramProblem {
  std::string mapping;  ///< of the template: unit, scaled or edges
  Skew skew = Skew::Uniform;
  bool weighted = false;  ///< sums of f32 weights, which CUB has not: peer.counts are u32 there
  bool extra = false;     ///< beside the grid: measured when asked for, not part of the means
  CubHistogram peer;      ///< without the address of its edges

  [[nodiscard]] std::int64_t samples() const { return peer.pixels * peer.channels; }
  [[nodiscard]] std::size_t sample_bytes() const { return peer.sample == CubHistogram::Sample::U8 ? 1 : 4; }
  /// Bytes of samples and weights, as they lie in a window: weights behind the samples.
  [[nodiscard]] std::size_t input_bytes() const;
  [[nodiscard]] std::size_t weights_at() const { return static_cast<std::size_t>(samples()) * sample_bytes(); }
  [[nodiscard]] std::size_t output_bytes() const;
  /// bins + 1 values of irregular distances; none where bins are even.
  [[nodiscard]] std::vector<std::int32_t> edges() const;
  /// What Runtime::kernel is given.
  [[nodiscard]] std::map<std::string, std::string> choices(SkewIs how) const;
  /// As rows of result files name it, without the skew.
  [[nodiscard]] nlohmann::ordered_json to_json() const;
  /// The same without size, e.g. "i32 2048 scaled"; what --problems selects.
  [[nodiscard]] std::string kind() const;
};

/// Unit, scaled and edges of i32, unit of u8, scaled of f32.
[[nodiscard]] bool has_plain_histogram(const std::string& mapping, const std::string& sample);
/// A problem of one channel, without weights, between the bounds that the benchmarks give such bins. Throws: UsageError where there is
/// none.
[[nodiscard]] HistogramProblem plain_histogram(const std::string& mapping, const std::string& sample, std::int64_t n, int bins, Skew skew);

[[nodiscard]] const char* name(Skew skew);
/// Nothing for other words.
[[nodiscard]] std::optional<Skew> skew_named(const std::string& text);

/// Which problems to measure; lists are comma-separated. Extra kinds and skews count as wanted when they are named.
struct HistogramFilter {
  std::string kinds;   ///< empty: all of the grid
  std::string skews;   ///< empty: all of the grid
  std::string counts;  ///< pixels; empty: those of each kind
  bool extra = false;
};

/// The problems, kind by kind, skew by skew, ascending. Throws: UsageError when a name is of no kind or skew.
[[nodiscard]] std::vector<HistogramProblem> histogram_problems(const HistogramFilter& filter);

}  // namespace attune::bench
