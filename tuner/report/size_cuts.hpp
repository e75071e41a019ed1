#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tuner/report/report.hpp"

namespace attune::report {

/// Problems of a series with several sizes that differ in one of them only: what a curve is drawn of.
struct SizeCut {
  std::string axis;                           ///< the size that varies
  std::map<std::string, std::int64_t> fixed;  ///< all others
  std::vector<std::size_t> problems;          ///< into Series::problems; ascending in the axis, at least two values
};

/// The cuts through those problems (indices into Series::problems), by axis, then by the fixed sizes ascending.
/// Empty where problems have one size: their series is a curve itself.
[[nodiscard]] std::vector<SizeCut> size_cuts(const Series& series, const std::vector<std::size_t>& problems);

/// The cut to begin with: of the most problems; of several such, the last of the first axis that has one.
/// Requires: `cuts` is not empty.
[[nodiscard]] std::size_t widest_cut(const std::vector<SizeCut>& cuts);

}  // namespace attune::report
