#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace attune::report {

using Sizes = std::map<std::string, std::int64_t>;

/// Problems with several sizes that differ in one of them only: what a curve is drawn of.
struct SizeCut {
  std::string axis;                   ///< the size that varies
  Sizes fixed;                        ///< all others
  std::vector<std::size_t> problems;  ///< ascending in the axis, at least two values
};

/// The cuts through problems of these sizes, by axis, then by the fixed sizes ascending; the keys are what SizeCut::problems names them by.
/// Empty where problems have one size: their series is a curve itself.
/// Requires: the problems differ in nothing but their sizes, which are distinct.
[[nodiscard]] std::vector<SizeCut> size_cuts(const std::map<std::size_t, Sizes>& problems);

/// The cut to begin with: of the most problems; of several such, the last of the first axis that has one.
/// Requires: `cuts` is not empty.
[[nodiscard]] std::size_t widest_cut(const std::vector<SizeCut>& cuts);

}  // namespace attune::report
