// The device's reference of histograms on the fake driver, against the one on the host.
// Runs before test_driver.cpp, whose faults end the use of the driver.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>

#include "tests/integration/fake_gpu/driver_fixture.hpp"
#include "tests/support/histogram_template.hpp"
#include "tuner/measure/cases.hpp"
#include "tuner/measure/gpu_executor.hpp"
#include "tuner/measure/histogram_reference.hpp"

namespace test_device_histogram {

using namespace attune;
using namespace attune::measure;
using test::Fake;
using test::read_back;

namespace {

/// The data of a histogram on the device and what the host says of them.
struct Laid {
  HistogramCase of;
  gpu::Buffer samples, edges, weights, counts;
  std::vector<std::uint64_t> host_samples, host_edges;
  std::vector<float> host_weights;
  [[nodiscard]] HistogramCall call() const { return {of, samples.address(), edges.address(), weights.address(), counts.address()}; }
  [[nodiscard]] HostHistogram right() const { return host_histogram(of, host_samples, host_edges, host_weights); }
};

std::vector<std::uint64_t> raw(const gpu::Buffer& buffer, spec::ElementType type, const gpu::Stream& stream) {
  const auto bytes = read_back<unsigned char>(buffer, stream);
  const auto size = static_cast<std::size_t>(spec::size_bytes(type));
  std::vector<std::uint64_t> elements(bytes.size() / size);
  for (std::size_t i = 0; i < elements.size(); ++i) std::memcpy(&elements[i], bytes.data() + i * size, size);
  return elements;
}

HistogramCase case_of(const std::map<std::string, std::string>& choices, std::int64_t n, std::int64_t bins) {
  const auto kernel = spec::KernelTemplate::parse(test::histogram_template(), {{"kernel.cu", ""}}, "template.json");
  const spec::Problem problem{choices, {{"n", n}, {"bins", bins}}};
  return histogram_case(kernel, problem, data_buffers(kernel, problem, spec::DeviceInfo::of_architecture("sm_90")));
}

Laid lay(Support& support, const gpu::Stream& stream, const HistogramCase& of, DataSet data, int group) {
  const auto size = static_cast<std::size_t>(spec::size_bytes(of.sample));
  const std::int64_t edges = of.mapping == HistogramMapping::Edges ? of.bins + 1 : 0;
  const std::int64_t weights = of.weighted() ? of.n : 0;
  Laid laid{of,
            gpu::Buffer(static_cast<std::size_t>(of.samples()) * size),
            gpu::Buffer(static_cast<std::size_t>(edges) * size),
            gpu::Buffer(static_cast<std::size_t>(weights) * sizeof(float)),
            gpu::Buffer(static_cast<std::size_t>(of.counts()) * static_cast<std::size_t>(spec::size_bytes(of.counter))),
            {},
            {},
            {}};
  const auto fill = [&](const gpu::Buffer& buffer, std::int64_t count, spec::ElementType type, HistogramInput input) {
    const Filling filling = histogram_filling(of, input, data, group);
    support.fill(buffer.address(), count, type, filling, 7);
    support.check_fill("changed", buffer.address(), count, type, filling, 7);
  };
  support.begin_checks();
  fill(laid.samples, of.samples(), of.sample, HistogramInput::Samples);
  fill(laid.edges, edges, of.sample, HistogramInput::Edges);
  fill(laid.weights, weights, spec::ElementType::F32, HistogramInput::Weights);
  CHECK_FALSE(support.findings().has_value());
  laid.host_samples = raw(laid.samples, of.sample, stream);
  if (edges > 0) laid.host_edges = raw(laid.edges, of.sample, stream);
  if (weights > 0) laid.host_weights = read_back<float>(laid.weights, stream);
  return laid;
}

double total(const std::vector<std::uint64_t>& counts) {
  double sum = 0;
  for (const auto count : counts) sum += static_cast<double>(count);
  return sum;
}

struct Device : Fake {
  spec::DeviceInfo info = gpu::read_device(0);
  Support support{test::support_cubin(), info, stream};
};

}  // namespace

TEST_CASE_FIXTURE(Device, "the device counts samples as the host does, for every type, mapping and data set") {
  for (const char* type : {"u8", "i16", "u16", "i32", "u32", "f32"}) {
    for (const char* mapping : {"unit", "shift", "scaled", "edges"}) {
      const std::string real = type, how = mapping;
      if (real == "f32" && (how == "unit" || how == "shift")) continue;
      for (const std::int64_t bins : {1, 2, 15, 256, 2000}) {
        const auto of = case_of({{"T", type}, {"mapping", mapping}}, 3001, bins);
        for (const DataSet data : histogram_data_sets(of)) {
          const Laid laid = lay(support, stream, of, data, 1);
          CAPTURE(real);
          CAPTURE(how);
          CAPTURE(bins);
          CAPTURE(static_cast<int>(data));
          const auto answers = support.count_histogram(laid.call());
          CHECK(read_back<std::uint64_t>(answers.counts, stream) == laid.right().counts);
        }
      }
    }
  }
}

TEST_CASE_FIXTURE(Device, "channels and weights are counted as on the host") {
  const auto channels = case_of({{"T", "u8"}, {"mapping", "unit"}, {"channels", "4"}, {"active", "3"}}, 3001, 256);
  const Laid laid = lay(support, stream, channels, DataSet::Integers, 0);
  CHECK(read_back<std::uint64_t>(support.count_histogram(laid.call()).counts, stream) == laid.right().counts);
  const auto weighted = case_of({{"T", "f32"}, {"mapping", "scaled"}, {"Counter", "f32"}}, 3001, 16);
  const Laid weights = lay(support, stream, weighted, DataSet::Integers, 0);
  const auto answers = support.count_histogram(weights.call());
  CHECK(read_back<std::uint64_t>(answers.counts, stream) == weights.right().counts);
  CHECK(read_back<double>(answers.sums, stream) == weights.right().sums);  // exact: small integers
  CHECK(read_back<double>(answers.magnitudes, stream) == weights.right().magnitudes);
}

TEST_CASE_FIXTURE(Device, "samples that are timed are inside and follow their skew") {
  constexpr std::int64_t kCount = 20000, kBins = 64;
  for (const char* type : {"u16", "i32", "f32"}) {
    for (const char* mapping : {"scaled", "edges"}) {
      const auto of = case_of({{"T", type}, {"mapping", mapping}}, kCount, kBins);
      for (int group = 0; group < histogram_groups(of); ++group) {
        const Laid laid = lay(support, stream, of, DataSet::Random, group);
        const auto counts = laid.right().counts;
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
        const auto at = [&](std::uint64_t bits) { return bin_of(of, bits, laid.host_edges).value(); };
        bool ascends = true;
        for (std::size_t i = 1; i < laid.host_samples.size(); ++i)
          ascends = ascends && at(laid.host_samples[i - 1]) <= at(laid.host_samples[i]);
        if (skew != Spread::Constant) CHECK(ascends == (skew == Spread::Sorted));
      }
    }
  }
}

TEST_CASE_FIXTURE(Device, "a histogram is verified with samples outside of every kind, and on single bins") {
  const auto of = case_of({{"T", "f32"}, {"mapping", "scaled"}}, 8000, 64);
  const Laid laid = lay(support, stream, of, DataSet::Integers, 0);
  CHECK(std::abs(total(laid.right().counts) - 7000) < 200);
  int no_numbers = 0, below = 0, above = 0, bounds = 0;
  for (const auto bits : laid.host_samples) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    no_numbers += std::isnan(x) ? 1 : 0;
    below += x < -1 ? 1 : 0;
    above += x > 1 ? 1 : 0;
    bounds += x == 1 ? 1 : 0;
  }
  for (const int kind : {no_numbers, below, above, bounds}) CHECK(kind > 50);
  CHECK(lay(support, stream, of, DataSet::FirstBin, 0).right().counts.front() == 8000);
  CHECK(lay(support, stream, of, DataSet::LastBin, 0).right().counts.back() == 8000);
  const auto two = lay(support, stream, of, DataSet::TwoBins, 0).right().counts;
  CHECK(two[32] == 4000);
  CHECK(two[33] == 4000);
}

TEST_CASE_FIXTURE(Device, "edges ascend from lower to upper, irregularly, with equal ones where there are more than numbers") {
  for (const std::int64_t bins : {64, 2000}) {
    const auto of = case_of({{"T", "u8"}, {"mapping", "edges"}}, 10, bins);
    const auto edges = lay(support, stream, of, DataSet::Random, 0).host_edges;
    CHECK(edges.front() == 0);
    CHECK(edges.back() == 250);
    CHECK(std::is_sorted(edges.begin(), edges.end()));
    CHECK((std::adjacent_find(edges.begin(), edges.end()) != edges.end()) == (bins > 250));
  }
}

TEST_CASE_FIXTURE(Device, "one wrong counter is found, a weighted one only beyond what adding in f32 explains") {
  HistogramReference reference(support);
  const auto judge = [&](const Laid& laid, DataSet data, spec::ElementType type, std::uint64_t wrong_bits, std::size_t at) {
    const auto right = reference.expect(laid.call(), data);
    support.store_element(laid.counts.address() + at * static_cast<std::size_t>(spec::size_bytes(type)), type, wrong_bits);
    return reference.judge(laid.call(), right);
  };
  const auto of = case_of({{"T", "u8"}, {"mapping", "unit"}, {"channels", "2"}}, 1000, 256);
  const Laid laid = lay(support, stream, of, DataSet::Integers, 0);
  const auto counts = laid.right().counts;
  for (std::size_t i = 0; i < counts.size(); ++i) support.store_element(laid.counts.address() + i * 4, spec::ElementType::U32, counts[i]);
  CHECK_FALSE(judge(laid, DataSet::Integers, spec::ElementType::U32, counts[300], 300).has_value());
  const auto wrong = judge(laid, DataSet::Integers, spec::ElementType::U32, counts[300] + 1, 300);
  REQUIRE(wrong.has_value());
  CHECK(wrong->starts_with("1 of 512 counts are wrong; the first is bin 44 of channel 1: "));

  const auto weighted = case_of({{"T", "u8"}, {"mapping", "unit"}, {"Counter", "f32"}}, 1000, 1);
  const Laid weights = lay(support, stream, weighted, DataSet::Random, 0);
  const auto right = weights.right();
  const auto bits = [](double value) { return std::uint64_t{std::bit_cast<std::uint32_t>(static_cast<float>(value))}; };
  const double allowed = std::ldexp(1.0, -24) * (8 + std::sqrt(static_cast<double>(right.counts[0]))) * right.magnitudes[0];
  CHECK_FALSE(judge(weights, DataSet::Random, spec::ElementType::F32, bits(right.sums[0] + allowed / 2), 0).has_value());
  CHECK(judge(weights, DataSet::Random, spec::ElementType::F32, bits(right.sums[0] + 2 * allowed), 0).has_value());
  CHECK(judge(weights, DataSet::Random, spec::ElementType::F32, bits(std::nan("")), 0).has_value());
}

}  // namespace test_device_histogram
