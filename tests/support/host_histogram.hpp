#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tuner/spec/kernel_template.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace attune::test {

enum class HistogramMapping { Unit, Shift, Scaled, Edges };
/// The skew of a problem.
enum class Spread : int { Uniform, Zipf, Hot, Constant, Sorted };

/// What the reference "histogram" computes, in words of the host's own: it shares nothing with the device's code.
struct HistogramCase {
  spec::ElementType sample{};
  spec::ElementType counter{};
  HistogramMapping mapping = HistogramMapping::Scaled;
  int channels = 1;
  int active = 1;      ///< how many of the first channels are counted
  std::int64_t n = 0;  ///< pixels
  std::int64_t bins = 1;
  std::int64_t lower = 0;  ///< of integers
  std::int64_t upper = 0;
  float lower_f32 = 0;  ///< of f32
  float upper_f32 = 0;
  std::optional<Spread> skew = Spread::Uniform;  ///< nothing: unknown

  [[nodiscard]] bool floating() const { return sample == spec::ElementType::F32; }
  [[nodiscard]] bool weighted() const { return counter == spec::ElementType::F32; }
  [[nodiscard]] std::int64_t samples() const { return n * channels; }
  [[nodiscard]] std::int64_t counts() const { return bins * active; }
};

/// What a problem of test::histogram_template() asks for.
[[nodiscard]] HistogramCase histogram_case(const spec::KernelTemplate& kernel, const spec::Problem& problem);

/// Where the sample with these raw bits counts; nothing: it does not. `edges`: raw bits, of HistogramMapping::Edges only.
[[nodiscard]] std::optional<std::int64_t> bin_of(const HistogramCase& of, std::uint64_t bits, std::span<const std::uint64_t> edges);

/// By bin, the channels behind each other.
struct HostHistogram {
  std::vector<std::uint64_t> counts;
  std::vector<double> sums;        ///< of the weights; 0 without
  std::vector<double> magnitudes;  ///< of abs(weight)
};

/// The right answer, computed on the host: what the device's reference is tested against. Raw bits; `weights`: of
/// weighted() only.
[[nodiscard]] HostHistogram host_histogram(const HistogramCase& of, std::span<const std::uint64_t> samples,
                                           std::span<const std::uint64_t> edges, std::span<const float> weights);

}  // namespace attune::test
