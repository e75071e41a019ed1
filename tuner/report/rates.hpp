#pragma once
#include <optional>

#include "tuner/report/report.hpp"

namespace attune::report {

/// What `rated`, a Best or a LadderRung of the problem, reaches in `us`, and its share of what the device can do; what is not known stays
/// empty. Requires: us > 0.
template <class Rated>
void add_rates(Rated& rated, const ProblemReport& problem, double us, std::optional<double> ceiling_bytes_per_s,
               std::optional<double> peak_operations_per_s) {
  const double seconds = us * 1e-6;
  if (problem.work_bytes) rated.bytes_per_s = static_cast<double>(*problem.work_bytes) / seconds;
  if (problem.work_operations) rated.operations_per_s = static_cast<double>(*problem.work_operations) / seconds;
  if (rated.bytes_per_s && ceiling_bytes_per_s) rated.ceiling_share = *rated.bytes_per_s / *ceiling_bytes_per_s;
  if (rated.operations_per_s && peak_operations_per_s) rated.peak_share = *rated.operations_per_s / *peak_operations_per_s;
}

}  // namespace attune::report
