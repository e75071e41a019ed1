// How outputs are compared with what is expected, on the fake driver. Runs before test_driver.cpp, whose faults end the use of the driver.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "tests/integration/fake_gpu/reference_lab.hpp"

namespace test_device_comparisons {

using namespace attune;
using namespace attune::test;
using spec::ElementType;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

reference::Expected exactly(std::uint64_t bits) { return {bits, reference::kExactMark}; }
reference::Expected between(double low, double high) { return {std::bit_cast<std::uint64_t>(low), std::bit_cast<std::uint64_t>(high)}; }

struct Comparing : ReferenceLab {
  /// What comparing a float with an expectation finds.
  std::optional<verify::Finding> compare(float got, const reference::Expected& expected) {
    const gpu::Buffer output(4), wanted(sizeof expected);
    support.upload(output.address(), &got, 4);
    support.upload(wanted.address(), &expected, sizeof expected);
    support.begin_checks();
    (void)support.compare({output.address(), 1, ElementType::F32}, {reinterpret_cast<const void*>(wanted.address()), 1, 0, 0});
    return support.findings();
  }
  bool right(float got, const reference::Expected& expected) { return !compare(got, expected).has_value(); }
};

}  // namespace

TEST_CASE_FIXTURE(Comparing,
                  "a number is right between the ends of its interval, a NaN where NaN is expected, an infinity where it must be") {
  CHECK(right(2, between(1, 3)));
  CHECK(right(3, between(1, 3)));
  CHECK_FALSE(right(std::nextafter(3.0f, 4.0f), between(1, 3)));
  CHECK_FALSE(right(std::nextafter(1.0f, 0.0f), between(1, 3)));
  CHECK_FALSE(right(static_cast<float>(kNan), between(1, 3)));
  CHECK(right(static_cast<float>(kNan), between(kNan, kNan)));
  CHECK_FALSE(right(2, between(kNan, kNan)));
  CHECK(right(static_cast<float>(kNan), between(3, 1)));  // or NaN
  CHECK(right(2, between(3, 1)));
  CHECK_FALSE(right(4, between(3, 1)));
  CHECK(right(-0.0f, between(0, 0)));
  CHECK(right(static_cast<float>(kInfinity), between(kInfinity, kInfinity)));
  CHECK_FALSE(right(static_cast<float>(-kInfinity), between(kInfinity, kInfinity)));
  CHECK(right(static_cast<float>(kInfinity), between(1e38, 1e39)));  // beyond f32
  CHECK_FALSE(right(static_cast<float>(kInfinity), between(1e37, 1e38)));
  CHECK_FALSE(right(static_cast<float>(-kInfinity), between(1e38, 1e39)));
}

TEST_CASE_FIXTURE(Comparing, "exact bits are compared in the output's width") {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(1.5f);
  CHECK(right(1.5f, exactly(bits)));
  CHECK(right(1.5f, exactly(bits | std::uint64_t{7} << 32)));
  CHECK_FALSE(right(-1.5f, exactly(bits)));
}

TEST_CASE_FIXTURE(Comparing, "a finding says the first element that is wrong, what it is and what was expected") {
  constexpr std::int64_t kCount = 1000;
  std::vector<std::int16_t> got(kCount, 5);
  std::vector<reference::Expected> expected(kCount, exactly(5));
  got[700] = got[333] = -6;
  const gpu::Buffer output(kCount * 2), wanted(kCount * sizeof(reference::Expected));
  support.upload(output.address(), got.data(), kCount * 2);
  support.upload(wanted.address(), expected.data(), expected.size() * sizeof(reference::Expected));
  support.begin_checks();
  const verify::Elements elements{output.address(), kCount, ElementType::I16};
  CHECK(support.compare(elements, {reinterpret_cast<const void*>(wanted.address()), 1, 0, 0}) == 0);
  const auto finding = support.findings();
  REQUIRE(finding.has_value());
  CHECK(finding->count() == 2);
  CHECK(finding->first() == 333);
  spec::ResolvedBuffer buffer{"out", ElementType::I16, kCount, 2 * kCount};
  verify::WantedOutput plain{0, kCount, {}, {}}, rows{0, kCount, {}, {{"row", 10}, {"column", 100}}},
      one_row{0, kCount, {}, {{"row", 1}, {"column", 1000}}};
  CHECK(verify::describe(*finding, plain, buffer, true) ==
        "2 of 1000 elements of output \"out\" are wrong; the first is element 333: -6 instead of 5");
  CHECK(verify::describe(*finding, rows, buffer, true).find("the first is column 33 of row 3: -6") != std::string::npos);
  CHECK(verify::describe(*finding, one_row, buffer, true).find("the first is column 333: -6") != std::string::npos);
}

TEST_CASE_FIXTURE(Comparing, "what is said of a number says how far off it might have been") {
  const spec::ResolvedBuffer buffer{"out", ElementType::F32, 1, 4};
  const verify::WantedOutput output{0, 1, {}, {}};
  CHECK(verify::describe(*compare(4, between(1, 2)), output, buffer, true) == "the result is 4 instead of 1.5 (allowed error 0.5)");
  CHECK(verify::describe(*compare(4, between(2, 1)), output, buffer, true) == "the result is 4 instead of 1.5 or nan (allowed error 0.5)");
  CHECK(verify::describe(*compare(4, between(2, 2)), output, buffer, false) == "output \"out\" is 4 instead of 2");
  CHECK(verify::describe(*compare(4, between(kNan, kNan)), output, buffer, true) == "the result is 4 instead of nan");
}

TEST_CASE_FIXTURE(Comparing, "values are compared as they are, or within a share of themselves and of a scale") {
  const std::vector<float> want = {1, -2, 0, static_cast<float>(kNan)}, near = {1.001f, -2.001f, 0.0005f, static_cast<float>(kNan)};
  const gpu::Buffer output(16), wanted(16);
  support.upload(output.address(), near.data(), 16);
  support.upload(wanted.address(), want.data(), 16);
  const auto wrong = [&](double relative, double scale, double absolute = 0, std::uint64_t may_be_off = 0) {
    support.begin_checks();
    (void)support.compare({output.address(), 4, ElementType::F32},
                          {reinterpret_cast<const void*>(wanted.address()), 0, relative, scale, absolute}, may_be_off);
    const auto finding = support.findings();
    return finding ? finding->count() : 0;
  };
  CHECK(wrong(0, 0) == 3);       // bit for bit
  CHECK(wrong(1.1e-3, 0) == 1);  // 0 has no share
  CHECK(wrong(1.1e-3, 1) == 0);
  CHECK(wrong(0, 0, 6e-4) == 2);  // 1.001 and -2.001
  CHECK(wrong(0, 0, 1.1e-3) == 0);
  CHECK(wrong(0, 0, 0, 2) == 3);  // as many as there are, not what is too many
  CHECK(wrong(0, 0, 0, 3) == 0);
}

TEST_CASE_FIXTURE(Comparing, "an infinite value is matched by the same one, whatever error is allowed") {
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  const std::vector<float> want = {kInfinite, kInfinite, -kInfinite, 1, 1},
                           got = {kInfinite, 3e38f, kInfinite, kInfinite, static_cast<float>(kNan)};
  const gpu::Buffer output(20), wanted(20);
  support.upload(output.address(), got.data(), 20);
  support.upload(wanted.address(), want.data(), 20);
  support.begin_checks();
  (void)support.compare({output.address(), 5, ElementType::F32}, {reinterpret_cast<const void*>(wanted.address()), 0, 0.1, 1, 10});
  const auto finding = support.findings();
  REQUIRE(finding.has_value());
  CHECK(finding->count() == 4);
  CHECK(finding->first() == 1);
}

TEST_CASE_FIXTURE(Comparing, "integers may be off by something absolute") {
  const std::vector<std::uint8_t> want = {10, 0, 255, 7}, near = {11, 1, 254, 9};
  const gpu::Buffer output(4), wanted(4);
  support.upload(output.address(), near.data(), 4);
  support.upload(wanted.address(), want.data(), 4);
  const auto wrong = [&](double absolute) {
    support.begin_checks();
    (void)support.compare({output.address(), 4, ElementType::U8}, {reinterpret_cast<const void*>(wanted.address()), 0, 0, 0, absolute});
    const auto finding = support.findings();
    return finding ? finding->count() : 0;
  };
  CHECK(wrong(0) == 4);
  CHECK(wrong(1) == 1);
  CHECK(wrong(2) == 0);
}

TEST_CASE_FIXTURE(Comparing, "what is planted or altered for a call is put back as it was, the elements and what is expected") {
  std::vector<std::uint32_t> data = {10, 11, 12, 13};
  const gpu::Buffer input(16), wanted(sizeof(reference::Expected)), memory(2 * sizeof(reference::Plant)),
      changed(sizeof(reference::Alteration));
  const reference::Expected before = exactly(46);
  const verify::Elements elements{input.address(), 4, ElementType::U32};
  support.upload(input.address(), data.data(), 16);
  support.upload(wanted.address(), &before, sizeof before);
  std::vector<reference::Plant> plants(2);
  plants[0].position = 1;
  plants[1].position = 3;
  support.upload(memory.address(), plants.data(), 2 * sizeof(reference::Plant));
  support.read_plants(memory.address(), 2, elements);
  support.download(plants.data(), memory.address(), 2 * sizeof(reference::Plant));
  CHECK(plants[0].before == 11);
  CHECK(plants[1].bits == 13);
  plants[0].bits = 111;
  plants[0].changes = 1;
  plants[0].expected[0] = exactly(146);
  support.upload(memory.address(), plants.data(), 2 * sizeof(reference::Plant));
  reference::Outputs outputs{};
  outputs.wanted[0] = reinterpret_cast<reference::Expected*>(wanted.address());
  const auto state = [&] {
    reference::Expected now{};
    support.download(&now, wanted.address(), sizeof now);
    return std::make_pair(bits(elements), now.low);
  };
  support.plant(0, memory.address(), elements, outputs, true);
  CHECK(state() == std::make_pair(Bits{10, 111, 12, 13}, reference::u64{146}));
  support.plant(memory.address(), 0, elements, outputs, true);  // the element stays
  CHECK(state() == std::make_pair(Bits{10, 111, 12, 13}, reference::u64{46}));
  support.plant(0, memory.address(), elements, outputs, false);
  support.plant(memory.address(), memory.address() + sizeof(reference::Plant), elements, outputs, false);  // which plants what is there
  CHECK(state() == std::make_pair(Bits{10, 11, 12, 13}, reference::u64{46}));
  support.plant(0, memory.address(), elements, outputs, true);
  support.plant(memory.address(), 0, elements, outputs, true);
  support.unplant(memory.address(), 2, elements);
  CHECK(state() == std::make_pair(Bits{10, 11, 12, 13}, reference::u64{46}));
  reference::Alteration alteration{2, {0, 0, 0, 0}, {7, 8, 0, 0}};  // the same element twice
  support.upload(changed.address(), &alteration, sizeof alteration);
  support.alter(changed.address(), elements, false);
  CHECK(bits(elements).front() == 8);
  support.alter(changed.address(), elements, true);
  CHECK(bits(elements) == Bits{10, 11, 12, 13});
}

}  // namespace test_device_comparisons
