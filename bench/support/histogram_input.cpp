#include "bench/support/histogram_input.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "attune/error.hpp"
#include "bench/support/batch.hpp"
#include "bench/support/kernels.hpp"

namespace attune::bench {
namespace {

/// An end of the even bins, in the type the template takes it: the one that holds every sample.
Argument bound(const HistogramProblem& problem, double value) {
  switch (problem.peer.sample) {
    case CubHistogram::Sample::U8:
      return Argument::scalar(static_cast<std::int32_t>(value));
    case CubHistogram::Sample::I32:
      return Argument::scalar(static_cast<std::int64_t>(value));
    case CubHistogram::Sample::F32:
      return Argument::scalar(static_cast<float>(value));
  }
  throw UsageError("failed passing the bounds: the template has no such samples");
}

}  // namespace

HistogramInput::HistogramInput(WindowPool& pool, const HistogramProblem& asked, measure::CachePolicy cache, const gpu::Stream& stream)
    : problem(asked), bytes(asked.input_bytes()) {
  const auto fitting = pool.windows(bytes);
  if (fitting == 0) throw EnvironmentError(fmt::format("not measured: {} bytes do not fit the {} bytes of data", bytes, pool.bytes()));
  windows = cache == measure::CachePolicy::Hot ? 1 : std::min(fitting, most_windows(bytes));
  if (const auto values = problem.edges(); !values.empty()) {
    edges = gpu::Buffer(values.size() * sizeof values[0]);
    gpu::check(gpu::Driver::get().cuMemcpyHtoDAsync(edges.address(), values.data(), edges.bytes(), stream.get()), "cuMemcpyHtoDAsync",
               "copying the edges");
    stream.synchronize();
    problem.peer.edges = reinterpret_cast<const void*>(edges.address());
  }
  const auto fill = [&](void* window, std::int64_t index) {
    fill_skewed(problem.peer, problem.skew, window, problem.samples(), index * problem.samples(), stream.get());
    if (problem.weighted) {
      fill_random(Element::F32, static_cast<char*>(window) + problem.weights_at(), bytes - problem.weights_at(),
                  static_cast<std::uint32_t>(index), stream.get());
    }
  };
  pool.fill_windows(bytes, windows, fill, stream);
}

std::vector<Argument> HistogramInput::arguments(const void* window, const void* out) const {
  const auto* const samples = static_cast<const char*>(window);
  return {Argument::pointer(samples),
          Argument::pointer(problem.peer.edges),
          Argument::pointer(problem.weighted ? samples + problem.weights_at() : nullptr),
          Argument::pointer(out),
          bound(problem, problem.peer.lower),
          bound(problem, problem.peer.upper)};
}

}  // namespace attune::bench
