#pragma once
#include <cstdint>
#include <optional>

#include "tuner/measure/histogram_case.hpp"

namespace attune::measure {

/// What attune_fill of support.cu writes; numbered as there.
enum class FillKind : int { Zeros, Ones, SmallIntegers, Uniform, FullRange, Factors, WideFactors, LoneBits, LoneGaps };

/// Samples or edges of a histogram, as attune_fill_histogram of support_histogram.cu makes them.
struct HistogramFilling {
  HistogramCase of;
  HistogramPart part = HistogramPart::Samples;
  Spread spread = Spread::Uniform;
  /// One sample in eight is outside: near the bounds, an extreme of the type, NaN; one in eight stands where its bin
  /// begins; some edges are equal.
  bool treacherous = false;
};

/// How a buffer is filled.
struct Filling {
  FillKind kind = FillKind::Zeros;
  std::uint64_t rarity = 1;  ///< one in so many elements is a factor other than 1 and -1, or has a bit of its own
  double offset = 0;         ///< added to factors
  std::optional<HistogramFilling> histogram = {};  ///< instead
};

}  // namespace attune::measure
