// The reference of histograms on the fake driver: its device code, compiled for the host, against the histogram that is computed there.
// Runs before test_driver.cpp, whose faults end the use of the driver.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "tests/integration/fake_gpu/reference_lab.hpp"
#include "tests/support/histogram_template.hpp"
#include "tests/support/host_histogram.hpp"

namespace test_device_histogram {

using namespace attune;
using namespace attune::test;
using verify::kIntegers;
using verify::kRandom;

namespace {

struct HistogramLab : ReferenceLab {
  using Choices = std::map<std::string, std::string>;

  /// The data of one data set, and what the host says of them.
  struct Counted {
    HistogramCase of;
    Bits samples, edges;
    std::vector<float> weights;
    [[nodiscard]] HostHistogram right() const { return host_histogram(of, samples, edges, weights); }
  };

  [[nodiscard]] Laid histogram(const Choices& choices, std::int64_t n, std::int64_t bins) {
    static const auto kernel = spec::KernelTemplate::parse(histogram_template(), {{"kernel.cu", ""}}, "template.json");
    return lay(kernel, {choices, {{"n", n}, {"bins", bins}}});
  }

  [[nodiscard]] std::size_t set(Laid& laid, const char* name) const { return laid.kernel.reference.definition->data_set(name); }

  [[nodiscard]] Counted counted(Laid& laid, std::size_t data, int group = 0) {
    Counted all{histogram_case(laid.kernel, laid.problem), input(laid, 0, data, group), input(laid, 1, data, group), {}};
    for (const auto bits : input(laid, 2, data, group)) all.weights.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    return all;
  }

  /// Whether the counts that are expected are those.
  [[nodiscard]] bool expects(Laid& laid, std::size_t data, const std::vector<std::uint64_t>& counts) {
    const auto all = expected(laid, data);
    return std::equal(all.begin(), all.end(), counts.begin(), counts.end(),
                      [](const auto& one, std::uint64_t count) { return is_exactly(one, count); });
  }
};

double total(const std::vector<std::uint64_t>& counts) {
  double sum = 0;
  for (const auto count : counts) sum += static_cast<double>(count);
  return sum;
}

}  // namespace

TEST_CASE_FIXTURE(HistogramLab, "the device counts samples as the host does, for every type, mapping and data set") {
  for (const char* type : {"u8", "i16", "u16", "i32", "u32", "f32"}) {
    for (const char* mapping : {"unit", "shift", "scaled", "edges"}) {
      const std::string real = type, how = mapping;
      if (real == "f32" && (how == "unit" || how == "shift")) continue;
      for (const std::int64_t bins : {1, 2, 15, 256, 2000}) {
        CAPTURE(real);
        CAPTURE(how);
        CAPTURE(bins);
        Laid laid = histogram({{"T", type}, {"mapping", mapping}}, 3001, bins);
        for (std::size_t data = 0; data < laid.data->data_sets().size(); ++data) {
          CAPTURE(laid.data->data_sets()[data].name);
          CHECK(expects(laid, data, counted(laid, data).right().counts));
        }
      }
    }
  }
}

TEST_CASE_FIXTURE(HistogramLab, "channels and weights are counted as on the host") {
  Laid channels = histogram({{"T", "u8"}, {"mapping", "unit"}, {"channels", "4"}, {"active", "3"}}, 3001, 256);
  CHECK(expects(channels, kIntegers, counted(channels, kIntegers).right().counts));
  Laid weighted = histogram({{"T", "f32"}, {"mapping", "scaled"}, {"Counter", "f32"}}, 3001, 16);
  const auto whole = expected(weighted, kIntegers), real = expected(weighted, kRandom);
  const auto right = counted(weighted, kIntegers).right(), rounded = counted(weighted, kRandom).right();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    CHECK(is_number(whole[i], right.sums[i]));  // exact: small integers
    CHECK(holds(real[i], rounded.sums[i]));
    // What adding in f32 explains, in whatever order.
    const double allowed = std::ldexp(1.0, -24) * (8 + std::sqrt(static_cast<double>(rounded.counts[i]))) * rounded.magnitudes[i];
    CHECK((high_of(real[i]) - low_of(real[i])) / 2 == doctest::Approx(allowed));
  }
}

TEST_CASE_FIXTURE(HistogramLab, "samples that are timed are inside and follow their skew") {
  constexpr std::int64_t kCount = 20000, kBins = 64;
  for (const char* type : {"u16", "i32", "f32"}) {
    for (const char* mapping : {"scaled", "edges"}) {
      Laid laid = histogram({{"T", type}, {"mapping", mapping}}, kCount, kBins);
      CHECK(laid.data->groups() == 5);
      for (int group = 0; group < 5; ++group) {
        const auto data = counted(laid, kRandom, group);
        const auto counts = data.right().counts;
        const auto skew = static_cast<Spread>(group);
        CAPTURE(std::string(type) + " " + mapping);
        CAPTURE(group);
        CHECK(total(counts) == kCount);
        const auto middle = static_cast<double>(counts[kBins / 2]);
        if (skew == Spread::Uniform || skew == Spread::Sorted) {
          for (const auto count : counts) CHECK(std::abs(static_cast<double>(count) - kCount / kBins) < 120);
        }
        if (skew == Spread::Zipf) CHECK(std::abs(static_cast<double>(counts[0]) - kCount / 6.0) < 300);  // below 2 of 64
        if (skew == Spread::Hot) CHECK(std::abs(middle - 0.9 * kCount) < 500);
        if (skew == Spread::Constant) CHECK(middle > 0.99 * kCount);  // the first number of a part of the range may be of the bin before
        const auto at = [&](std::uint64_t bits) { return bin_of(data.of, bits, data.edges).value(); };
        bool ascends = true;
        for (std::size_t i = 1; i < data.samples.size(); ++i) ascends = ascends && at(data.samples[i - 1]) <= at(data.samples[i]);
        if (skew != Spread::Constant) CHECK(ascends == (skew == Spread::Sorted));
      }
    }
  }
}

TEST_CASE_FIXTURE(HistogramLab, "a histogram is verified with samples outside of every kind, and on single bins") {
  Laid laid = histogram({{"T", "f32"}, {"mapping", "scaled"}}, 8000, 64);
  const auto all = counted(laid, kIntegers);
  CHECK(std::abs(total(all.right().counts) - 7000) < 200);
  int no_numbers = 0, below = 0, above = 0, bounds = 0;
  for (const auto bits : all.samples) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    no_numbers += std::isnan(x) ? 1 : 0;
    below += x < -1 ? 1 : 0;
    above += x > 1 ? 1 : 0;
    bounds += x == 1 ? 1 : 0;
  }
  for (const int kind : {no_numbers, below, above, bounds}) CHECK(kind > 50);
  CHECK(counted(laid, set(laid, "first_bin")).right().counts.front() == 8000);
  CHECK(counted(laid, set(laid, "last_bin")).right().counts.back() == 8000);
  const auto two = counted(laid, set(laid, "two_bins")).right().counts;
  CHECK(two[32] == 4000);
  CHECK(two[33] == 4000);
  CHECK(total(counted(laid, set(laid, "at_upper")).right().counts) == 0);
  CHECK(total(counted(laid, set(laid, "below_lower")).right().counts) == 0);
}

TEST_CASE_FIXTURE(HistogramLab, "weights are whole where histograms are verified, never where they are timed") {
  Laid laid = histogram({{"T", "u8"}, {"mapping", "unit"}, {"Counter", "f32"}}, 1000, 256);
  for (std::size_t data = 0; data < laid.data->data_sets().size(); ++data) {
    bool whole = true;
    for (const float weight : counted(laid, data).weights) whole = whole && weight == std::trunc(weight);
    CHECK(whole == (data != kRandom));
  }
}

TEST_CASE_FIXTURE(HistogramLab, "edges ascend from lower to upper, irregularly, with equal ones where there are more than numbers") {
  for (const std::int64_t bins : {64, 2000}) {
    Laid laid = histogram({{"T", "u8"}, {"mapping", "edges"}}, 10, bins);
    const auto edges = counted(laid, kRandom).edges;
    CHECK(edges.front() == 0);
    CHECK(edges.back() == 250);
    CHECK(std::is_sorted(edges.begin(), edges.end()));
    CHECK((std::adjacent_find(edges.begin(), edges.end()) != edges.end()) == (bins > 250));
  }
}

TEST_CASE_FIXTURE(HistogramLab, "what stands around the samples counts, so that reading too far shows") {
  for (const auto& [type, mapping] :
       {std::pair{"i32", "scaled"}, std::pair{"u8", "scaled"}, std::pair{"i16", "scaled"}, std::pair{"f32", "scaled"}}) {
    Laid laid = histogram({{"T", type}, {"mapping", mapping}}, 10, 7);
    const auto& asked = laid.data->asked();
    const auto guards = asked.reference->guards(0, asked.buffers[0].type);
    REQUIRE(guards.has_value());
    CHECK((*guards)[0] != (*guards)[1]);
    for (const auto guard : *guards) CHECK(bin_of(histogram_case(laid.kernel, laid.problem), guard, {}).has_value());
    CHECK_FALSE(asked.reference->guards(3, asked.buffers[3].type).has_value());
  }
}

TEST_CASE_FIXTURE(HistogramLab, "one wrong counter is found, and named by its bin and channel") {
  Laid laid = histogram({{"T", "u8"}, {"mapping", "unit"}, {"channels", "2"}}, 1000, 256);
  auto& asked = laid.data->asked();
  const auto counts = counted(laid, kIntegers).right().counts;
  std::vector<std::uint32_t> got(counts.begin(), counts.end());
  const auto where = laid.data->addresses(asked);
  const auto& output = asked.expectations[kIntegers]->outputs.front();
  const auto found = [&] {
    support.upload(where[output.buffer], got.data(), got.size() * sizeof(std::uint32_t));
    support.begin_checks();
    (void)support.compare(verify::ProblemData::elements(asked, output.buffer, where), output.wanted);
    return support.findings();
  };
  CHECK_FALSE(found().has_value());
  ++got[300];
  const auto finding = found();
  REQUIRE(finding.has_value());
  CHECK(verify::describe(*finding, output, asked.buffers[output.buffer], true) ==
        "1 of 512 elements of output \"counts\" are wrong; the first is bin 44 of channel 1: " + std::to_string(got[300]) + " instead of " +
            std::to_string(got[300] - 1));
}

}  // namespace test_device_histogram
