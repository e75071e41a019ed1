// The typed front ends of reductions on the device, against a loop on the host in double. Values are small integers, so that
// sums are exact in any order.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "tests/gpu/runtime_fixture.hpp"
#include "tests/support/best_row.hpp"

namespace test_reduce_runtime {

using namespace attune;
using namespace attune::test;

namespace {

constexpr std::int64_t kCounts[] = {0, 1, 33, 100003};
constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class T>
void to_device(CUdeviceptr target, const std::vector<T>& values) {
  if (!values.empty())
    gpu::check(gpu::Driver::get().cuMemcpyHtoDAsync(target, values.data(), values.size() * sizeof(T), nullptr), "cuMemcpyHtoDAsync",
               "writing");
  gpu::check(gpu::Driver::get().cuCtxSynchronize(), "cuCtxSynchronize", "waiting");
}

/// Elements on the device, from `offset` elements behind an aligned address on. `T` is the device's type, whose bits `values` hold.
template <class T, class Value = T>
class Device {
 public:
  explicit Device(const std::vector<Value>& values, std::size_t offset = 0)
      : offset_(offset), n_(static_cast<std::int64_t>(values.size())), memory_((values.size() + offset + 1) * sizeof(Value)) {
    write(values);
  }
  void write(const std::vector<Value>& values) const { to_device(memory_.address() + offset_ * sizeof(Value), values); }
  [[nodiscard]] T* at() const { return reinterpret_cast<T*>(memory_.address() + offset_ * sizeof(Value)); }
  [[nodiscard]] std::int64_t n() const { return n_; }

 private:
  std::size_t offset_;
  std::int64_t n_;
  gpu::Buffer memory_;
};

/// One result of type `R` on the device.
template <class R>
class Result {
 public:
  [[nodiscard]] R* at() const { return reinterpret_cast<R*>(memory_.address()); }
  [[nodiscard]] R value() const {
    R value{};
    gpu::check(gpu::Driver::get().cuCtxSynchronize(), "cuCtxSynchronize", "waiting");
    gpu::check(gpu::Driver::get().cuMemcpyDtoHAsync(&value, memory_.address(), sizeof value, nullptr), "cuMemcpyDtoHAsync", "reading");
    gpu::check(gpu::Driver::get().cuCtxSynchronize(), "cuCtxSynchronize", "waiting");
    return value;
  }

 private:
  gpu::Buffer memory_{sizeof(R)};
};

/// From -4 to 6.
std::int64_t number(std::int64_t i) { return i * 7 % 11 - 4; }

template <class T>
std::vector<T> numbers(std::int64_t n) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < n; ++i) values.push_back(static_cast<T>(number(i)));
  return values;
}

/// The bits of small integers in both 16-bit formats.
std::vector<std::uint16_t> half_numbers(std::int64_t n, int mantissa_bits, int bias) {
  std::vector<std::uint16_t> values;
  for (std::int64_t i = 0; i < n; ++i) {
    int exponent = 0;
    const double fraction = std::frexp(std::fabs(static_cast<double>(number(i))), &exponent);  // in [0.5, 1), or 0
    const int mantissa = static_cast<int>(std::ldexp(2 * fraction - 1, mantissa_bits));
    const int bits = fraction == 0 ? 0 : (number(i) < 0 ? 0x8000 : 0) | (exponent - 1 + bias) << mantissa_bits | mantissa;
    values.push_back(static_cast<std::uint16_t>(bits));
  }
  return values;
}

/// What the front end makes of the values.
template <class T, class FrontEnd, class Value>
typename FrontEnd::Result reduced(const FrontEnd& reduce, const std::vector<Value>& values, std::size_t offset = 0,
                                  const typename FrontEnd::Values& given = {}) {
  const Device<T, Value> in(values, offset);
  const Result<typename FrontEnd::Result> out;
  reduce(in.at(), in.n(), out.at(), nullptr, given);
  return out.value();
}

/// The host's: what elements contribute, combined from `start` on.
double on_host(std::int64_t n, double start, const std::function<double(double)>& map,
               const std::function<double(double, double)>& combine) {
  double x = start;
  for (std::int64_t i = 0; i < n; ++i) x = combine(x, map(static_cast<double>(number(i))));
  return x;
}

double plus(double a, double b) { return a + b; }
double same(double x) { return x; }
double square(double x) { return x * x; }

template <class T>
std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

/// Values whose sum is rounded differently in different orders.
std::vector<float> rough(std::int64_t n) {
  std::vector<float> values;
  std::uint32_t state = 12345;
  for (std::int64_t i = 0; i < n; ++i) {
    state = state * 1664525u + 1013904223u;
    values.push_back(std::ldexp(static_cast<float>(state >> 8) - 8388608.0f, static_cast<int>(state % 16) - 30));
  }
  return values;
}

}  // namespace

TEST_CASE_FIXTURE(RuntimeFixture, "transforms, finishes and the values given at launch are those of the host, for every n") {
  Runtime runtime;
  const auto spread = runtime.reduce<float>({.transform = Transform::ShiftedSquare});
  const auto line = runtime.reduce<double>({.finish = Finish::ScaleBias});
  const auto greatest = runtime.reduce<float>({.op = Op::Max, .transform = Transform::Absolute});
  const auto norm = runtime.norm2<float>();
  const auto mean = runtime.mean<double>();
  for (const std::int64_t n : kCounts) {
    CAPTURE(n);
    const auto floats = numbers<float>(n);
    const auto doubles = numbers<double>(n);
    CHECK(reduced<float>(spread, floats, 1, {.shift = 0.5f}) == on_host(
                                                                    n, 0, [](double x) { return (x - 0.5) * (x - 0.5); }, plus));
    CHECK(reduced<double>(line, doubles, 1, {.scale = 2.5, .bias = -3}) == 2.5 * on_host(n, 0, same, plus) - 3);
    CHECK(reduced<double>(line, doubles) == on_host(n, 0, same, plus));
    CHECK(reduced<float>(greatest, floats, 2) ==
          on_host(
              n, -kInfinity, [](double x) { return std::fabs(x); }, [](double a, double b) { return std::fmax(a, b); }));
    CHECK(reduced<float>(norm, floats, 3) == doctest::Approx(std::sqrt(on_host(n, 0, square, plus))).epsilon(1e-6));
    const double average = reduced<double>(mean, doubles, 1);
    if (n == 0) CHECK(std::isnan(average));
    if (n > 0) CHECK(average == doctest::Approx(on_host(n, 0, same, plus) / static_cast<double>(n)).epsilon(1e-14));
  }
}

TEST_CASE_FIXTURE(RuntimeFixture, "an operator and a transform of the caller's own are those of the host, for every n") {
  Runtime runtime;
  const auto own = runtime.reduce<float>({.op = CustomOp{"a > b ? a : b", "A(-1000)"}, .transform = CustomTransform{"A(3) - x * x"}});
  for (const std::int64_t n : kCounts) {
    CAPTURE(n);
    CHECK(reduced<float>(own, numbers<float>(n), 1) ==
          on_host(
              n, -1000, [](double x) { return 3 - x * x; }, [](double a, double b) { return a > b ? a : b; }));
  }
}

TEST_CASE_FIXTURE(RuntimeFixture, "integers are combined modulo 2^32 or 2^64 in types as wide as they come out") {
  Runtime runtime;
  const auto sum = runtime.reduce<std::int8_t>(Op::Sum);
  const auto both = runtime.reduce<std::uint8_t>(Op::And);
  const auto any = runtime.reduce<std::int64_t>(Op::Or);
  const auto odd = runtime.reduce<std::uint32_t>(Op::Xor);
  const auto product = runtime.reduce<std::uint64_t>(Op::Product);
  for (const std::int64_t n : kCounts) {
    CAPTURE(n);
    std::int32_t bytes = 0;
    std::uint32_t all = 255, parity = 0;
    std::int64_t some = 0;
    std::uint64_t factors = 1;
    std::vector<std::uint8_t> masks;
    std::vector<std::uint32_t> words;
    std::vector<std::uint64_t> factor;
    for (std::int64_t i = 0; i < n; ++i) {
      bytes += static_cast<std::int32_t>(number(i));
      some |= number(i);
      masks.push_back(static_cast<std::uint8_t>(i | 0xa0));
      all &= masks.back();
      words.push_back(static_cast<std::uint32_t>(i) * 2654435761u);
      parity ^= words.back();
      factor.push_back(static_cast<std::uint64_t>(i) * 11400714819323198485u | 1u);
      factors *= factor.back();
    }
    CHECK(reduced<std::int8_t>(sum, numbers<std::int8_t>(n), 3) == bytes);
    CHECK(reduced<std::uint8_t>(both, masks, 5) == all);
    CHECK(reduced<std::int64_t>(any, numbers<std::int64_t>(n), 1) == some);
    CHECK(reduced<std::uint32_t>(odd, words, 1) == parity);
    CHECK(reduced<std::uint64_t>(product, factor, 1) == factors);
  }
}

TEST_CASE_FIXTURE(RuntimeFixture, "16-bit floating-point elements are summed in f32") {
  Runtime runtime;
  const auto sum = runtime.reduce<__half>(Op::Sum);
  const auto norm = runtime.norm2<__nv_bfloat16>();
  for (const std::int64_t n : kCounts) {
    CAPTURE(n);
    CHECK(reduced<__half>(sum, half_numbers(n, 10, 15), 1) == on_host(n, 0, same, plus));
    CHECK(reduced<__nv_bfloat16>(norm, half_numbers(n, 7, 127), 3) ==
          doctest::Approx(std::sqrt(on_host(n, 0, square, plus))).epsilon(1e-6));
  }
}

TEST_CASE_FIXTURE(RuntimeFixture, "a dot product is right however its inputs are aligned against each other, and of an input with itself") {
  Runtime runtime;
  const auto dot = runtime.dot<float>();
  for (const std::int64_t n : kCounts) {
    const auto values = numbers<float>(n);
    const std::vector<float> reversed(values.rbegin(), values.rend());
    double expected = 0;
    for (std::int64_t i = 0; i < n; ++i) expected += static_cast<double>(number(i) * number(n - 1 - i));
    for (const auto& [first, second] : {std::pair<std::size_t, std::size_t>{0, 0}, {0, 1}, {3, 2}, {1, 1}}) {
      CAPTURE(n);
      CAPTURE(first);
      CAPTURE(second);
      const Device<float> a(values, first), b(reversed, second);
      const Result<float> out;
      dot(a.at(), b.at(), n, out.at(), nullptr);
      CHECK(out.value() == expected);
      dot(a.at(), a.at(), n, out.at(), nullptr);
      CHECK(out.value() == on_host(n, 0, square, plus));
    }
  }
}

TEST_CASE_FIXTURE(RuntimeFixture, "a captured dot product replays right on what its inputs hold then, with the values of the capture") {
  Runtime runtime;
  constexpr std::int64_t kLong = 1 << 20;
  const auto dot = runtime.dot<float>({.finish = Finish::ScaleBias});
  const Plan plan = dot.plan(kLong);
  REQUIRE(plan.workspace_bytes() > 0);
  const auto workspace = workspace_of(plan);
  const Device<float> a(std::vector<float>(kLong, 1.0f)), b(std::vector<float>(kLong, 1.0f));
  const Result<float> out;
  const gpu::Stream stream;
  const auto graph = gpu::Graph::capture(stream, [&] {
    plan.launch(dot.arguments(a.at(), b.at(), out.at(), {.scale = 2, .bias = 1}), reinterpret_cast<void*>(workspace.address()),
                stream.get());
  });
  for (int replay = 1; replay <= 3; ++replay) {
    a.write(std::vector<float>(kLong, static_cast<float>(replay)));
    graph.launch(stream);
    CHECK(out.value() == static_cast<float>(2 * kLong * replay + 1));
  }
}

TEST_CASE_FIXTURE(RuntimeFixture, "extremes pass over NaN, sums carry it and infinities on") {
  Runtime runtime;
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  const auto sum = runtime.reduce<float>(Op::Sum);
  const auto least = runtime.reduce<float>(Op::Min);
  CHECK(reduced<float>(least, std::vector<float>{nan, 3, nan, -2, 5}) == -2);
  CHECK(reduced<float>(least, std::vector<float>(1000, nan)) == infinity);
  CHECK(std::isnan(reduced<float>(sum, std::vector<float>{1, nan, 2})));
  CHECK(reduced<float>(sum, std::vector<float>{1, infinity, 2}) == infinity);
  CHECK(std::isnan(reduced<float>(sum, std::vector<float>{-infinity, infinity})));
}

TEST_CASE_FIXTURE(RuntimeFixture, "a reproducible sum has the same bits at every alignment and in two configurations") {
  constexpr std::int64_t kLong = 1000003;
  const auto values = rough(kLong);
  const std::vector<float> reversed(values.rbegin(), values.rend());
  const Reproducible ways[] = {{Accumulate::FixedOrder}, {Accumulate::Compensated}, {Accumulate::FixedPoint, std::ldexp(1.0, -30)}};
  const auto kernel = spec::TemplateLibrary().find("reproducible_reduce");
  const auto device = gpu::read_device(0);
  const auto other =
      spec::configuration_from_text(kernel, R"({"items": 1, "vector_bytes": 4, "grid_stage": "two_pass", "blocks_per_sm": 1})");
  std::vector<std::uint64_t> bits;
  double exact = 0;
  for (const float value : values) exact += value;
  {
    Runtime runtime;
    for (const auto& how : ways) {
      const auto sum = runtime.reproducible_reduce<float>(Op::Sum, how);
      bits.push_back(bits_of(reduced<float>(sum, values)));
      for (const std::size_t offset : {1, 2, 3}) CHECK(bits_of(reduced<float>(sum, values, offset)) == bits.back());
      if (how.accumulate == Accumulate::FixedPoint) CHECK(bits_of(reduced<float>(sum, reversed)) == bits.back());
      CHECK(reduced<float>(sum, values) == doctest::Approx(exact).epsilon(1e-3));
    }
  }
  {
    auto database = db::Database::open(folder / "user.db", db::OpenMode::ReadWrite);
    database.put(device_row(device));
    for (const char* const accumulate : {"fixed_order", "compensated", "fixed_point"}) {
      const auto problem = spec::canonical(kernel, {{{"T", "f32"}, {"op", "sum"}, {"accumulate", accumulate}}, {{"n", kLong}}});
      database.put(best_row(kernel, problem, device, spec::to_text(kernel, other)));
    }
  }
  Runtime runtime;
  for (std::size_t way = 0; way < std::size(ways); ++way) {
    const auto sum = runtime.reproducible_reduce<float>(Op::Sum, ways[way]);
    CHECK(sum.explain(kLong).tier == Tier::ExactSize);
    CHECK(sum.explain(kLong).configuration != spec::to_text(kernel, spec::default_configuration(kernel)));
    for (const std::size_t offset : {0, 3}) CHECK(bits_of(reduced<float>(sum, values, offset)) == bits[way]);
  }
}

TEST_CASE_FIXTURE(RuntimeFixture, "a compensated sum keeps what a great element would swallow") {
  Runtime runtime;
  std::vector<float> values(100003, 1.0f);
  values.front() = 1e8f;
  values.back() = -1e8f;
  CHECK(reduced<float>(runtime.reproducible_reduce<float>(Op::Sum, {Accumulate::Compensated}), values) == 100001.0f);
  const auto norm = runtime.reproducible_dot<double>({Accumulate::Compensated}, {.finish = Finish::Root});
  for (const std::int64_t n : kCounts) {
    const Device<double> in(numbers<double>(n), 1);
    const Result<double> out;
    norm(in.at(), in.at(), n, out.at(), nullptr);
    CHECK(out.value() == doctest::Approx(std::sqrt(on_host(n, 0, square, plus))).epsilon(1e-14));
  }
}

TEST_CASE_FIXTURE(RuntimeFixture, "a fixed-point sum is NaN when an element is NaN, infinite or beyond its share of 2^62 resolutions") {
  Runtime runtime;
  const auto sum = runtime.reproducible_reduce<double>(Op::Sum, {Accumulate::FixedPoint, std::ldexp(1.0, -20)});
  std::vector<double> values(1024, 0.0);  // 2^52 resolutions for each: 2^32
  const auto with = [&](double value) {
    values[700] = value;
    return reduced<double>(sum, values);
  };
  CHECK(with(std::ldexp(1.0, 32)) == std::ldexp(1.0, 32));
  CHECK(with(-std::ldexp(1.0, 32)) == -std::ldexp(1.0, 32));
  CHECK(with(std::ldexp(0.75, -20)) == std::ldexp(1.0, -20));
  CHECK(std::isnan(with(std::ldexp(1.0, 33))));
  CHECK(std::isnan(with(kInfinity)));
  CHECK(std::isnan(with(std::nan(""))));
  CHECK(with(0) == 0);
}

}  // namespace test_reduce_runtime
