#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <variant>
#include <vector>

#include "bench/support/histogram_problem.hpp"
#include "bench/support/reduction_problem.hpp"

namespace attune::bench {

/// A problem drawn at random: what a program may ask that nobody tuned for it.
struct RandomProblem {
  std::variant<ReductionProblem, HistogramProblem> what;
  SkewIs skew_is = SkewIs::Stated;  ///< of a histogram: whether attune is told

  [[nodiscard]] std::string template_name() const;
  [[nodiscard]] std::map<std::string, std::string> choices() const;
  [[nodiscard]] std::vector<std::int64_t> sizes() const;  ///< in the order of the template
  /// As `attune tune --problems` reads it.
  [[nodiscard]] nlohmann::ordered_json to_json() const;
  /// What tables put together, e.g. "reduce f64 sum", "segmented_reduce f32", "histogram i32 edges".
  [[nodiscard]] std::string family() const;
};

/// The same for the same seed, everywhere; those of one family lie together. Of twenty problems on average ten are sums and maxima of six
/// types, two arg-reductions, two reductions of rows and six histograms. Numbers of elements are log-uniform from 2^8 to 2^29 (histograms:
/// to 2^28), and so are rows, and bins to 200,000 (of bytes: 256 always); skews are equally likely, and told half of the time.
[[nodiscard]] std::vector<RandomProblem> draw_problems(std::uint64_t seed, int count);

}  // namespace attune::bench
