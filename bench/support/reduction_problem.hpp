#pragma once
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bench/support/cub_reduce.hpp"

namespace attune::bench {

/// One problem of bench/reduce_vs_cub: what attune is asked, and what CUB is.
struct ReductionProblem {
  std::string template_name;
  std::map<std::string, std::string> choices;
  std::vector<std::int64_t> sizes;  ///< in the order of the template
  CubReduction peer;

  [[nodiscard]] std::size_t input_bytes() const;
  /// Bytes of the results, as cub_reduce lays them out.
  [[nodiscard]] std::size_t output_bytes() const;
  /// How far results may be from the reference, relative to it: floating-point sums of positive elements, in whatever order.
  /// 0: exactly equal.
  [[nodiscard]] double tolerance() const;
  /// As rows of result files name it.
  [[nodiscard]] nlohmann::ordered_json to_json() const;
  /// The same without sizes, e.g. "f32 sum"; what --problems selects.
  [[nodiscard]] std::string kind() const;
};

/// How far results are from the peer's, relative to them. Throws: Error when that is more than the problem's tolerance.
double checked_difference(const ReductionProblem& problem, const std::vector<unsigned char>& ours, const std::vector<unsigned char>& theirs,
                          const std::string& peer);

/// Every kind at every count, and rows of f32 in three shapes.
[[nodiscard]] std::vector<ReductionProblem> reduction_problems(const std::vector<std::int64_t>& counts);

}  // namespace attune::bench
