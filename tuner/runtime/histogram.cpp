#include "attune/histogram.hpp"

#include <fmt/core.h>

#include <bit>
#include <cmath>

#include "attune/error.hpp"
#include "attune/runtime.hpp"

namespace attune::detail {
namespace {

constexpr std::int64_t kMostBins = std::int64_t{1} << 24;
constexpr int kMostChannels = 4;

[[noreturn]] void refuse_histogram(const std::string& why) { throw UsageError("failed describing a histogram: " + why); }

const char* word(Skew skew) {
  switch (skew) {
    case Skew::Unknown:
      return "unknown";
    case Skew::Uniform:
      return "uniform";
    case Skew::Zipf:
      return "zipf";
    case Skew::Hot:
      return "hot";
    case Skew::Constant:
      return "constant";
    case Skew::Sorted:
      return "sorted";
  }
  return "";  // no value of Skew: refused as an unknown choice
}

const char* word(Mapping mapping) {
  switch (mapping) {
    case Mapping::Unit:
      return "unit";
    case Mapping::Shift:
      return "shift";
    case Mapping::Scaled:
      return "scaled";
    case Mapping::Edges:
      return "edges";
  }
  return "";
}

}  // namespace

std::map<std::string, std::string> histogram_choices(const HistogramDescription& description, Mapping mapping) {
  if (description.bins < 1 || description.bins > kMostBins) {
    refuse_histogram(fmt::format("it has {} bins; give 1 to {} (2^24)", description.bins, kMostBins));
  }
  if (description.channels < 1 || description.channels > kMostChannels) {
    refuse_histogram(fmt::format("its samples have {} channels; give 1 to {}", description.channels, kMostChannels));
  }
  if (description.active < 1 || description.active > description.channels) {
    refuse_histogram(
        fmt::format("{} of {} channels are to be counted; give 1 to {}", description.active, description.channels, description.channels));
  }
  return {{"T", description.sample},
          {"Counter", description.counter},
          {"mapping", word(mapping)},
          {"channels", std::to_string(description.channels)},
          {"active", description.active == description.channels ? "all" : std::to_string(description.active)},
          {"skew", word(description.skew)}};
}

Mapping even_mapping(const LevelRange& range, std::int64_t lower, std::int64_t upper, std::int64_t bins) {
  if (lower >= upper) refuse_histogram(fmt::format("its lower bound {} is not below its upper one, {}", lower, upper));
  if (lower < range.least || upper - 1 > range.greatest) {
    refuse_histogram(
        fmt::format("its bounds are {} and {}, and {} samples are {} to {}; give bounds among them, the upper one at most one above", lower,
                    upper, range.sample, range.least, range.greatest));
  }
  const std::int64_t width = upper - lower;
  if (width == bins) return Mapping::Unit;
  const bool whole = width % bins == 0;
  return whole && std::has_single_bit(static_cast<std::uint64_t>(width / bins)) ? Mapping::Shift : Mapping::Scaled;
}

Mapping even_mapping(float lower, float upper, std::int64_t bins) {
  if (!(lower < upper)) refuse_histogram(fmt::format("its lower bound {} is not below its upper one, {}", lower, upper));
  // What a kernel multiplies with: of 0 all samples would fall into one bin, of infinity none would have any.
  const float scale = static_cast<float>(bins) / (upper - lower);
  if (!(scale > 0 && std::isfinite(scale) && std::isfinite(lower) && std::isfinite(upper))) {
    refuse_histogram(fmt::format("its bounds {} and {} are infinite, or too far apart or too near for {} bins in f32", lower, upper, bins));
  }
  return Mapping::Scaled;
}

HistogramKernels histogram_kernels(Runtime& runtime, const HistogramDescription& description) {
  const auto kernel = [&](Mapping mapping) { return runtime.kernel("histogram", histogram_choices(description, mapping)); };
  const Kernel scaled = kernel(Mapping::Scaled);
  const bool floating = description.sample == HistogramSample<float>::kName;
  return {floating ? scaled : kernel(Mapping::Unit), floating ? scaled : kernel(Mapping::Shift), scaled, kernel(Mapping::Edges),
          description.bins};
}

}  // namespace attune::detail
