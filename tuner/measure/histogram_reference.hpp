#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tuner/measure/reduction.hpp"
#include "tuner/measure/support.hpp"

namespace attune::measure {

/// Of one data set.
struct HistogramExpectation {
  HistogramAnswers answers;
  double unit = 0;  ///< of Support::compare_counts
};

/// How many groups of windows a histogram is timed on: one for each skew where the problem's is unknown.
[[nodiscard]] int histogram_groups(const HistogramCase& of);

/// What a case is verified with. Integers: uniform, one sample in eight outside; Random: the skew of the problem, of group 0
/// where it is unknown. The asked case has further ones, which fill one counter with everything (the first and the last: what
/// counts in 16 bits or spills into a neighbour shows there), change between two bins and ascend.
[[nodiscard]] std::vector<DataSet> histogram_data_sets(const HistogramCase& of);

/// How the samples of a data set are spread; `group`: of windows, counts for Random only.
[[nodiscard]] Spread spread_of(const HistogramCase& of, DataSet data, int group);

enum class HistogramInput { Samples, Edges, Weights };
[[nodiscard]] Filling histogram_filling(const HistogramCase& of, HistogramInput input, DataSet data, int group);

/// What stands around the samples: two of them that count. The extremes of a type are mostly outside, so that a kernel could
/// read them with impunity.
[[nodiscard]] GuardValues histogram_guards(const HistogramCase& of);

/// The right answers of "histogram" and what is wrong with results.
class HistogramReference {
 public:
  explicit HistogramReference(Support& support) : support_(&support) {}

  /// Waits.
  [[nodiscard]] HistogramExpectation expect(const HistogramCall& call, DataSet data);
  /// Waits.
  [[nodiscard]] std::optional<std::string> judge(const HistogramCall& call, const HistogramExpectation& right);

 private:
  Support* support_;
};

}  // namespace attune::measure
