// The histogram that is computed on the host, which the device's is tested against, against definitions that share nothing with it; and
// what the reference "histogram" says of its problems.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "attune/error.hpp"
#include "tests/support/histogram_template.hpp"
#include "tests/support/host_histogram.hpp"
#include "tuner/verify/case_reference.hpp"
#include "tuner/verify/cases.hpp"

namespace test_histogram {

using namespace attune;
using namespace attune::test;
using spec::ElementType;

namespace {

__extension__ typedef __int128 Wide;

HistogramCase integers(ElementType type, std::int64_t lower, std::int64_t upper, std::int64_t bins) {
  HistogramCase of;
  of.sample = type;
  of.counter = ElementType::U32;
  of.lower = lower;
  of.upper = upper;
  of.bins = bins;
  return of;
}

HistogramCase floats(float lower, float upper, std::int64_t bins) {
  HistogramCase of = integers(ElementType::F32, 0, 0, bins);
  of.lower_f32 = lower;
  of.upper_f32 = upper;
  return of;
}

std::uint64_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
std::optional<std::int64_t> bin(const HistogramCase& of, std::int64_t x) { return bin_of(of, static_cast<std::uint64_t>(x), {}); }
std::optional<std::int64_t> bin(const HistogramCase& of, float x) { return bin_of(of, bits(x), {}); }

/// Whether bin i is the one that holds the part [i, i + 1) * range / bins of the range: no division, and exact.
bool holds(const HistogramCase& of, std::int64_t x, std::int64_t i) {
  const Wide scaled = (Wide{x} - of.lower) * of.bins, range = Wide{of.upper} - of.lower;
  return i >= 0 && i < of.bins && i * range <= scaled && scaled < (i + 1) * range;
}

/// f32 arithmetic by rounding each double result once, which is the same (53 >= 2 * 24 + 2 digits).
std::int64_t f32_bin(const HistogramCase& of, float x) {
  const auto rounded = [](double value) { return static_cast<double>(static_cast<float>(value)); };
  const double range = rounded(double{of.upper_f32} - double{of.lower_f32});
  const double scale = rounded(static_cast<double>(of.bins) / range);
  const double product = rounded(rounded(double{x} - double{of.lower_f32}) * scale);
  return std::min(of.bins - 1, static_cast<std::int64_t>(std::floor(product)));
}

spec::KernelTemplate histogram() { return spec::KernelTemplate::parse(histogram_template(), {{"kernel.cu", ""}}, "template.json"); }

HistogramCase case_of(const std::map<std::string, std::string>& choices, std::int64_t n, std::int64_t bins) {
  const auto kernel = histogram();
  const spec::Problem problem{choices, {{"n", n}, {"bins", bins}}};
  return histogram_case(kernel, problem);
}

const spec::DeviceInfo& device() {
  static const auto info = spec::DeviceInfo::of_architecture("sm_90");
  return info;
}

spec::ReferenceProblem reference_of(const spec::KernelTemplate& kernel, const std::map<std::string, std::string>& choices, std::int64_t n,
                                    std::int64_t bins) {
  const spec::Problem problem{choices, {{"n", n}, {"bins", bins}}};
  return {kernel, problem, spec::default_configuration(kernel), verify::data_buffers(kernel, problem, device()), device()};
}

std::string refusal(const std::map<std::string, std::string>& choices, std::int64_t bins,
                    const spec::KernelTemplate& kernel = histogram()) {
  try {
    (void)reference_of(kernel, choices, 100, bins);
  } catch (const SpecError& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("integers count in the bin whose part of the range they are in, exactly, whatever the range") {
  const std::int64_t highest = std::numeric_limits<std::uint32_t>::max();
  std::mt19937_64 random(1);
  for (const auto& of : {integers(ElementType::U32, 0, highest, 1 << 24), integers(ElementType::U32, 0, highest, 3),
                         integers(ElementType::I32, -2147483648, 2147483647, 16777213), integers(ElementType::I32, -7, 1000003, 2048),
                         integers(ElementType::U8, 0, 250, 7), integers(ElementType::U16, 5, 65521, 1)}) {
    std::vector<std::int64_t> tried = {of.lower, of.lower + 1, of.upper - 1, of.lower + (of.upper - of.lower) / 2};
    for (int i = 0; i < 2000; ++i) {
      tried.push_back(of.lower + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(of.upper - of.lower)));
      const std::int64_t begin = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(of.bins));
      const auto edge = of.lower + static_cast<std::int64_t>(Wide{begin} * (of.upper - of.lower) / of.bins);
      if (edge + 1 < of.upper) tried.insert(tried.end(), {edge, edge + 1});  // both sides of where a bin begins
    }
    for (const std::int64_t x : tried) {
      const auto found = bin(of, x);
      CAPTURE(x);
      REQUIRE(found.has_value());
      CHECK(holds(of, x, *found));
    }
  }
}

TEST_CASE("what is below lower, not below upper or no number counts nowhere") {
  const auto of = integers(ElementType::I32, -5, 5, 10);
  for (const std::int64_t x : {std::int64_t{-6}, std::int64_t{5}, std::int64_t{-2147483648}, std::int64_t{2147483647}})
    CHECK_FALSE(bin(of, x).has_value());
  CHECK(bin(of, std::int64_t{-5}) == 0);
  CHECK(bin(of, std::int64_t{4}) == 9);
  const auto real = floats(-1, 1, 10);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float x : {1.0f, std::nextafter(-1.0f, -2.0f), kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()})
    CHECK_FALSE(bin(real, x).has_value());
  CHECK(bin(real, -1.0f) == 0);
  CHECK(bin(real, std::nextafter(1.0f, 0.0f)) == 9);
}

TEST_CASE("more bins than the range has numbers leave bins empty, and the rest exact") {
  const auto of = integers(ElementType::U8, 0, 10, 64);
  for (std::int64_t x = 0; x < 10; ++x) {
    CHECK(bin(of, x) == x * 64 / 10);
    CHECK(holds(of, x, *bin(of, x)));
  }
}

TEST_CASE("f32 counts by f32 arithmetic, and a product that rounds up to bins counts in the last bin") {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (const std::int64_t bins : {1, 3, 1000, 1 << 24}) {
    const auto of = floats(-1, 1, bins);
    for (int i = 0; i < 20000; ++i) {
      const float x = uniform(random);
      CHECK(bin(of, x) == f32_bin(of, x));
    }
  }
  // 1 - 2^-24 is 2 - 2^-24 above -1, which f32 rounds to 2: the product is the number of bins.
  const float last = std::nextafter(1.0f, 0.0f);
  REQUIRE((last - -1.0f) * (1000.0f / 2) == 1000.0f);
  for (const std::int64_t bins : {1, 7, 1000, 1 << 24}) CHECK(bin(floats(-1, 1, bins), last) == bins - 1);
}

TEST_CASE("edges count in the last bin that begins at or below a sample, equal edges leaving bins empty") {
  HistogramCase of = integers(ElementType::I32, 0, 100, 6);
  of.mapping = HistogramMapping::Edges;
  const std::vector<std::int64_t> edges = {-10, -10, 0, 7, 7, 7, 20};
  std::vector<std::uint64_t> raw;
  for (const auto edge : edges) raw.push_back(static_cast<std::uint32_t>(edge));
  for (std::int64_t x = -12; x < 23; ++x) {
    std::optional<std::int64_t> naive;
    for (std::size_t i = 0; i + 1 < edges.size(); ++i)
      if (edges[i] <= x && x < edges[i + 1]) naive = static_cast<std::int64_t>(i);
    CAPTURE(x);
    CHECK(bin_of(of, static_cast<std::uint32_t>(x), raw) == naive);
  }
  HistogramCase real = floats(0, 1, 2);
  real.mapping = HistogramMapping::Edges;
  const std::vector<std::uint64_t> real_edges = {bits(0), bits(0.5f), bits(0.5f)};
  CHECK(bin_of(real, bits(-0.0f), real_edges) == 0);
  CHECK_FALSE(bin_of(real, bits(0.5f), real_edges).has_value());
  CHECK_FALSE(bin_of(real, bits(std::numeric_limits<float>::quiet_NaN()), real_edges).has_value());
}

TEST_CASE("the channels that are counted stand behind each other, the others are passed over") {
  HistogramCase of = integers(ElementType::U8, 0, 4, 4);
  of.channels = 3;
  of.active = 2;
  of.n = 3;
  const std::vector<std::uint64_t> samples = {0, 1, 2, 0, 3, 2, 9, 1, 2};
  CHECK(host_histogram(of, samples, {}, {}).counts == std::vector<std::uint64_t>{2, 0, 0, 0, 0, 2, 0, 1});
}

TEST_CASE("weights are added by the bin of their sample, beside their magnitudes") {
  HistogramCase of = integers(ElementType::U8, 0, 2, 2);
  of.counter = ElementType::F32;
  of.n = 4;
  const std::vector<std::uint64_t> samples = {0, 1, 0, 7};
  const std::vector<float> weights = {1.5f, 2, -4, 100};
  const auto result = host_histogram(of, samples, {}, weights);
  CHECK(result.sums == std::vector<double>{-2.5, 2});
  CHECK(result.magnitudes == std::vector<double>{5.5, 2});
}

TEST_CASE("a histogram is read from its problem, with the bounds that tuning passes") {
  const auto of = case_of({{"T", "u16"}, {"mapping", "shift"}, {"channels", "4"}, {"active", "3"}, {"skew", "hot"}}, 10, 256);
  CHECK(of.sample == ElementType::U16);
  CHECK(of.counter == ElementType::U32);
  CHECK(of.samples() == 40);
  CHECK(of.counts() == 768);
  CHECK(of.lower == 0);
  CHECK(of.upper == 4096);
  CHECK(of.skew == Spread::Hot);
  const auto real = case_of({{"T", "f32"}, {"Counter", "f32"}, {"mapping", "edges"}}, 10, 256);
  CHECK(real.lower_f32 == -1);
  CHECK(real.upper_f32 == 1);
  CHECK(real.weighted());
  CHECK_FALSE(real.skew.has_value());
}

TEST_CASE("a histogram that no reference computes is refused with the reason") {
  CHECK(refusal({{"T", "u8"}, {"mapping", "unit"}}, 256).empty());
  CHECK(contains(refusal({{"T", "u8"}, {"mapping", "unit"}, {"channels", "2"}, {"active", "3"}}, 256),
                 "no more channels counted than there are"));
  CHECK(contains(refusal({{"T", "u8"}, {"mapping", "unit"}, {"channels", "2"}, {"Counter", "f32"}}, 256), "weights of one channel only"));
  CHECK(contains(refusal({{"T", "f32"}, {"mapping", "unit"}}, 256), "the mapping 'scaled' or 'edges' for f32"));
  const auto with = [](const std::string& before, const std::string& after) {
    std::string text = histogram_template();
    text.replace(text.find(before), before.size(), after);
    return spec::KernelTemplate::parse(text, {{"kernel.cu", ""}}, "template.json");
  };
  CHECK(refusal({{"T", "i32"}, {"mapping", "shift"}}, 5).empty());
  CHECK(contains(
      refusal({{"T", "i32"}, {"mapping", "shift"}}, 5, with("(mapping == 'shift') * bins * 16", "(mapping == 'shift') * bins * 12")),
      "'bins' times a power of two"));
  CHECK(contains(refusal({{"T", "i32"}, {"mapping", "shift"}}, 5, with("(mapping == 'shift') * bins * 16", "(mapping == 'shift') * bins")),
                 "'bins' times a power of two"));
  const std::string lower = R"_("value": "0 - (T == 'f32')")_";
  CHECK(contains(refusal({{"T", "i32"}, {"mapping", "scaled"}}, 5, with(lower, R"_("value": "2 ** 40 * (T == 'i32')")_")),
                 "'lower' below 'upper'"));
  CHECK(contains(refusal({{"T", "i32"}, {"mapping", "scaled"}}, 5, with(lower, R"_("value": "-(2 ** 39) * (T == 'i32')")_")),
                 "between -2^38 and 2^38"));
  CHECK(contains(refusal({{"T", "f32"}, {"mapping", "scaled"}}, 5, with(R"("lower": {"type": "L")", R"("lower": {"type": "i32")")),
                 "bounds of type f32"));
}

TEST_CASE("an unknown skew is timed on five groups of windows, and any other on one") {
  CHECK(reference_of(histogram(), {{"T", "u8"}, {"mapping", "unit"}}, 10, 256).groups() == 5);
  CHECK(reference_of(histogram(), {{"T", "u8"}, {"mapping", "unit"}, {"skew", "hot"}}, 10, 256).groups() == 1);
}

TEST_CASE("what is verified with other data where the skew is known is what the skew is not") {
  const auto has = [](const char* skew, const char* set) {
    const auto reference = reference_of(histogram(), {{"T", "u8"}, {"mapping", "unit"}, {"skew", skew}}, 10, 256);
    return reference.has(reference.definition().data_set(set));
  };
  CHECK(has("unknown", "hot"));
  CHECK_FALSE(has("zipf", "hot"));
  CHECK(has("zipf", "ascending"));
  CHECK_FALSE(has("sorted", "ascending"));
  CHECK(has("sorted", "at_upper"));
}

}  // namespace test_histogram
