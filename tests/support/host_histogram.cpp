#include "tests/support/host_histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <string_view>

#include "tuner/spec/element.hpp"
#include "tuner/spec/macros.hpp"

namespace attune::test {
namespace {

__extension__ typedef unsigned __int128 Wide;

constexpr std::string_view kMappingWords[] = {"unit", "shift", "scaled", "edges"};
constexpr std::string_view kSkewWords[] = {"uniform", "zipf", "hot", "constant", "sorted"};

/// The number of a word; the first where a template has no such axis.
template <std::size_t count>
std::size_t number_of(const std::string_view (&words)[count], const std::string& word) {
  const auto found = std::find(std::begin(words), std::end(words), word);
  return found == std::end(words) ? 0 : static_cast<std::size_t>(found - std::begin(words));
}

struct Bound {
  spec::ElementType type{};
  std::int64_t integer = 0;
  float f32 = 0;
};

Bound bound(const spec::KernelTemplate& kernel, const spec::Problem& problem, const HistogramCase& of, const std::string& name) {
  const auto found = std::find_if(kernel.scalars.begin(), kernel.scalars.end(), [&](const auto& scalar) { return scalar.name == name; });
  const auto resolved = spec::resolve_scalar(kernel, problem, *found);  // the parser has seen it
  if (of.floating()) return {resolved.type, 0, std::bit_cast<float>(static_cast<std::uint32_t>(resolved.bits))};
  return {resolved.type, static_cast<std::int64_t>(spec::extend(resolved.type, resolved.bits)), 0};
}

void read_bounds(const spec::KernelTemplate& kernel, const spec::Problem& problem, HistogramCase& of) {
  const Bound lower = bound(kernel, problem, of, "lower"), upper = bound(kernel, problem, of, "upper");
  of.lower = lower.integer;
  of.upper = upper.integer;
  of.lower_f32 = lower.f32;
  of.upper_f32 = upper.f32;
}

/// Samples and edges that are integers have at most 32 bits.
std::int64_t integer_of(const HistogramCase& of, std::uint64_t bits) { return static_cast<std::int64_t>(spec::extend(of.sample, bits)); }

float f32_of(std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }

std::optional<std::int64_t> even_bin(const HistogramCase& of, std::int64_t x) {
  if (x < of.lower || x >= of.upper) return std::nullopt;
  const auto distance = static_cast<std::uint64_t>(x) - static_cast<std::uint64_t>(of.lower);
  const auto range = static_cast<std::uint64_t>(of.upper) - static_cast<std::uint64_t>(of.lower);
  return static_cast<std::int64_t>(Wide{distance} * static_cast<std::uint64_t>(of.bins) / range);
}

/// In f32 throughout; what rounding lifts to `bins` counts in the last bin.
std::optional<std::int64_t> even_bin(const HistogramCase& of, float x) {
  if (!(x >= of.lower_f32 && x < of.upper_f32)) return std::nullopt;
  const float scale = static_cast<float>(of.bins) / (of.upper_f32 - of.lower_f32);
  const float product = (x - of.lower_f32) * scale;
  if (!(product >= 1)) return 0;  // also where a range beyond f32 makes it no number
  return product >= static_cast<float>(of.bins) ? of.bins - 1 : static_cast<std::int64_t>(product);
}

template <class Value, class Read>
std::optional<std::int64_t> bin_between(std::span<const std::uint64_t> edges, Value x, Read read) {
  const auto above = std::partition_point(edges.begin(), edges.end(), [&](std::uint64_t edge) { return read(edge) <= x; });
  if (above == edges.begin() || above == edges.end()) return std::nullopt;
  return above - edges.begin() - 1;
}

}  // namespace

HistogramCase histogram_case(const spec::KernelTemplate& kernel, const spec::Problem& problem) {
  const auto number = [&](const char* axis, int otherwise) {
    const std::string word = spec::choice_of(kernel, problem, axis);
    return word.empty() || word == "all" ? otherwise : std::stoi(word);  // the parser knows the words
  };
  HistogramCase of;
  of.sample = spec::element_type(spec::resolve_type(kernel, "T", problem));
  of.counter = spec::element_type(spec::resolve_type(kernel, "Counter", problem));
  of.mapping = static_cast<HistogramMapping>(number_of(kMappingWords, spec::choice_of(kernel, problem, "mapping")));
  of.channels = number("channels", 1);
  of.active = number("active", of.channels);
  of.n = problem.sizes.at("n");
  of.bins = problem.sizes.at("bins");
  const std::string skew = spec::choice_of(kernel, problem, "skew");
  of.skew = skew == "unknown" ? std::nullopt : std::make_optional(static_cast<Spread>(number_of(kSkewWords, skew)));
  read_bounds(kernel, problem, of);
  return of;
}

std::optional<std::int64_t> bin_of(const HistogramCase& of, std::uint64_t bits, std::span<const std::uint64_t> edges) {
  if (of.mapping != HistogramMapping::Edges) return of.floating() ? even_bin(of, f32_of(bits)) : even_bin(of, integer_of(of, bits));
  if (of.floating()) return bin_between(edges, f32_of(bits), f32_of);
  return bin_between(edges, integer_of(of, bits), [&](std::uint64_t edge) { return integer_of(of, edge); });
}

HostHistogram host_histogram(const HistogramCase& of, std::span<const std::uint64_t> samples, std::span<const std::uint64_t> edges,
                             std::span<const float> weights) {
  const auto counts = static_cast<std::size_t>(of.counts());
  HostHistogram result{std::vector<std::uint64_t>(counts), std::vector<double>(counts), std::vector<double>(counts)};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::size_t channel = i % static_cast<std::size_t>(of.channels);
    if (channel >= static_cast<std::size_t>(of.active)) continue;
    const auto bin = bin_of(of, samples[i], edges);
    if (!bin) continue;
    const std::size_t at = channel * static_cast<std::size_t>(of.bins) + static_cast<std::size_t>(*bin);
    ++result.counts[at];
    if (!of.weighted()) continue;
    result.sums[at] += static_cast<double>(weights[i]);
    result.magnitudes[at] += std::abs(static_cast<double>(weights[i]));
  }
  return result;
}

}  // namespace attune::test
