#include "tuner/search/distances.hpp"

#include <algorithm>
#include <numeric>

namespace attune::search {
namespace {

bool varies(const space::SearchSpace& space, std::size_t parameter) {
  for (space::Ordinal ordinal = 1; ordinal < space.size(); ++ordinal)
    if (space.row(ordinal)[parameter] != space.row(0)[parameter]) return true;
  return false;
}

/// Tables are the square of this: a parameter may have 65,536 values.
constexpr std::size_t kMostBins = 256;

/// By value: its place in the order of the scale, in equal parts where there are too many.
std::vector<std::uint16_t> bins_of(std::size_t values, const std::vector<double>& scale) {
  std::vector<std::size_t> order(values);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (values > kMostBins && !scale.empty())
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return scale[a] < scale[b]; });
  std::vector<std::uint16_t> bins(values);
  for (std::size_t place = 0; place < values; ++place)
    bins[order[place]] = static_cast<std::uint16_t>(values > kMostBins ? place * kMostBins / values : place);
  return bins;
}

/// By bin: the mean place of its values.
std::vector<double> means_of(const std::vector<double>& places, const ParameterDistances& of) {
  std::vector<double> sums(of.bins), counts(of.bins);
  for (std::size_t value = 0; value < places.size(); ++value) {
    sums[of.bin_of[value]] += places[value];
    counts[of.bin_of[value]] += 1;
  }
  for (std::size_t bin = 0; bin < of.bins; ++bin) sums[bin] /= counts[bin];
  return sums;
}

}  // namespace

std::vector<ParameterDistances> distances_of(const space::SearchSpace& space) {
  std::vector<ParameterDistances> all;
  for (std::size_t parameter = 0; parameter < space.width(); ++parameter) {
    if (!varies(space, parameter)) continue;
    const auto& scale = space.scale(parameter);
    ParameterDistances one{parameter, std::min(space.value_count(parameter), kMostBins), bins_of(space.value_count(parameter), scale), {}};
    const std::size_t bins = one.bins;
    const auto add = [&](auto&& apart) {
      auto& squared = one.features.emplace_back(bins * bins);
      for (std::size_t a = 0; a < bins; ++a)
        for (std::size_t b = 0; b < bins; ++b) squared[a * bins + b] = apart(a, b) * apart(a, b);
    };
    const auto add_places = [&](const std::vector<double>& places) {
      const auto means = means_of(places, one);
      add([&](std::size_t a, std::size_t b) { return means[a] - means[b]; });
    };
    if (scale.empty()) {
      add([](std::size_t a, std::size_t b) { return a == b ? 0.0 : 1.0; });
    } else {
      add_places(scale);
      if (const auto& twos = space.twos(parameter); !twos.empty()) add_places(twos);
    }
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace attune::search
