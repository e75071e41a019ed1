// attune's own device kernels on the fake driver: the references of reductions, and the data that they ask for.
// Runs before test_driver.cpp, whose faults end the use of the driver.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/integration/fake_gpu/driver_fixture.hpp"
#include "tuner/measure/gpu_executor.hpp"
#include "tuner/measure/support.hpp"

namespace test_device_kernels {

using namespace attune;
using test::cubin_of;
using test::Fake;
using test::read_back;

TEST_CASE_FIXTURE(Fake, "the reference of a reduction transforms every element, for every type and transform") {
  const auto device = gpu::read_device(0);
  measure::Support support(test::support_cubin(), device, stream);
  using spec::ElementType;
  constexpr std::int64_t kCount = 3001;
  for (const auto& [in, out] : {std::pair{ElementType::I8, ElementType::I32}, std::pair{ElementType::U8, ElementType::U32},
                                std::pair{ElementType::U64, ElementType::U64}, std::pair{ElementType::F16, ElementType::F32},
                                std::pair{ElementType::F64, ElementType::F64}}) {
    for (int code = 0; code < 5; ++code) {
      measure::Reduction of;
      of.in = in;
      of.out = out;
      of.count = kCount;
      of.transform = static_cast<measure::Transform>(code);
      of.shift = {3, 3};
      CAPTURE(spec::name(in));
      CAPTURE(code);
      const auto size = static_cast<std::size_t>(spec::size_bytes(in));
      const gpu::Buffer first(kCount * size), second(kCount * size);
      const auto kind = measure::is_floating(in) ? measure::FillKind::SmallIntegers : measure::FillKind::FullRange;
      support.fill(first.address(), kCount, in, {kind}, 1);
      support.fill(second.address(), kCount, in, {kind}, 2);
      const auto x = read_back<unsigned char>(first, stream), y = read_back<unsigned char>(second, stream);
      measure::Totals wanted;
      std::int64_t least = std::numeric_limits<std::int64_t>::max();
      for (std::size_t i = 0; i < kCount; ++i) {
        std::uint64_t a = 0, b = 0;
        std::memcpy(&a, x.data() + i * size, size);
        std::memcpy(&b, y.data() + i * size, size);
        const auto term = measure::term_of(of, a, b);
        wanted.sum += term.value;
        wanted.integer_sum += term.integer;
        wanted.integer_product *= term.integer;
        wanted.conjunction &= term.integer;
        wanted.parity ^= term.integer;
        least = std::min(least, static_cast<std::int64_t>(term.integer));
      }
      const auto totals = support.reduce(first.address(), second.address(), of);
      if (of.floating()) {
        CHECK(totals.sum == wanted.sum);
        CHECK(totals.lost == 0);
        continue;
      }
      CHECK(totals.integer_sum == wanted.integer_sum);
      CHECK(totals.integer_product == wanted.integer_product);
      CHECK(totals.conjunction == wanted.conjunction);
      CHECK(totals.parity == wanted.parity);
      if (in != ElementType::U64) CHECK(static_cast<std::int64_t>(totals.minimum_bits) == least);
    }
  }
}

TEST_CASE_FIXTURE(Fake, "the reference of a sum has twice the digits, and its extremes pass over NaN") {
  const auto device = gpu::read_device(0);
  measure::Support support(test::support_cubin(), device, stream);
  constexpr auto kType = spec::ElementType::F64;
  constexpr std::int64_t kCount = 5000;
  const gpu::Buffer buffer(kCount * sizeof(double));
  const auto put = [&](std::int64_t index, double value) {
    support.store_element(buffer.address() + static_cast<std::size_t>(index) * sizeof(double), kType, std::bit_cast<std::uint64_t>(value));
  };
  support.fill(buffer.address(), kCount, kType, {measure::FillKind::Ones}, 0);
  put(0, 0x1p100);
  put(kCount - 1, -0x1p100);
  const auto cancelled = support.reduce(buffer.address(), kCount, kType);
  CHECK(cancelled.sum + cancelled.lost == kCount - 2);
  put(0, std::nan(""));
  put(kCount - 1, -3);
  const auto with_nan = support.reduce(buffer.address(), kCount, kType);
  CHECK(std::isnan(with_nan.sum));
  CHECK(std::bit_cast<double>(with_nan.minimum_bits) == -3);
  CHECK(std::bit_cast<double>(with_nan.maximum_bits) == 1);
  support.set_bytes(buffer.address(), buffer.bytes(), 0xFF);
  CHECK_FALSE(support.reduce(buffer.address(), kCount, kType).has_extremes);
}

TEST_CASE_FIXTURE(Fake, "bits that stand alone are few, and factors lie around their offset") {
  const auto device = gpu::read_device(0);
  measure::Support support(test::support_cubin(), device, stream);
  constexpr std::int64_t kCount = 4096;
  const gpu::Buffer bytes(kCount);
  support.fill(bytes.address(), kCount, spec::ElementType::U8, {measure::FillKind::LoneBits, kCount / 4}, 3);
  const auto bits = read_back<unsigned char>(bytes, stream);
  support.fill(bytes.address(), kCount, spec::ElementType::U8, {measure::FillKind::LoneGaps, kCount / 4}, 3);
  const auto gaps = read_back<unsigned char>(bytes, stream);
  int set = 0;
  bool inverse = true;
  for (std::size_t i = 0; i < kCount; ++i) {
    set += std::popcount(bits[i]);
    inverse = inverse && (bits[i] ^ gaps[i]) == 0xff;
  }
  CHECK(set > 0);
  CHECK(set < 32);
  CHECK(inverse);
  const gpu::Buffer floats(kCount * sizeof(float));
  support.fill(floats.address(), kCount, spec::ElementType::F32, {measure::FillKind::Factors, 4, 5}, 3);
  for (const float value : read_back<float>(floats, stream)) {
    const float factor = std::abs(value - 5);
    if (factor != 1 && factor != 2 && factor != 0.5f) FAIL("a factor is ", factor);
  }
}

}  // namespace test_device_kernels
