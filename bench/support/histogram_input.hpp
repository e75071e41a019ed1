#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "attune/argument.hpp"
#include "bench/support/histogram_problem.hpp"
#include "bench/support/window_pool.hpp"
#include "tuner/measure/measurement.hpp"

namespace attune::bench {

/// The input of one problem, on the device: windows of a pool, and edges.
struct HistogramInput {
  /// Fills the windows with samples of the problem's skew. Throws: EnvironmentError when not even one fits.
  HistogramInput(WindowPool& pool, const HistogramProblem& problem, measure::CachePolicy cache, const gpu::Stream& stream);

  /// The arguments of a launch of the template that counts the samples of a window into `out`. Requires: this object outlives the launch.
  [[nodiscard]] std::vector<Argument> arguments(const void* window, const void* out) const;

  HistogramProblem problem;  ///< with the address of its edges
  std::size_t bytes = 0;     ///< of a window
  std::int64_t windows = 0;
  gpu::Buffer edges;
};

}  // namespace attune::bench
