// The references of reductions on the fake driver: their device code, compiled for the host, against loops that share nothing with it.
// Runs before test_driver.cpp, whose faults end the use of the driver.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "tests/integration/fake_gpu/reference_lab.hpp"

namespace test_device_reductions {

using namespace attune;
using namespace attune::test;
using spec::ElementType;
using verify::kIntegers;
using verify::kRandom;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A reduction of two inputs by every operator and transform, to the type that sums of its elements take.
const spec::KernelTemplate& reduction() {
  static const auto kernel = spec::KernelTemplate::parse(R"json({
    "attune": 1, "name": "every_reduction", "sources": ["k.cu"],
    "problem": {"T": {"type": ["i8", "u8", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64"]},
                "op": {"choice": ["sum", "product", "min", "max", "and", "or", "xor"]}, "n": {"size": {"min": 0}},
                "transform": {"choice": ["identity", "absolute", "square", "shifted_square", "times"], "default": "identity"},
                "accumulate": {"choice": ["fixed_order", "compensated"], "default": "fixed_order"}},
    "types": {"A": {"by": "T", "map": {"f16": "f32", "bf16": "f32", "i8": "i32", "u8": "u32"}, "else": "T"}},
    "parameters": {"p": {"values": [1], "default": 1}},
    "buffers": {"in": {"type": "T", "count": "n"}, "other": {"type": "T", "count": "n", "input": true}, "out": {"type": "A", "count": 1, "output": true}},
    "scalars": {"shift": {"type": "A", "value": 3}},
    "launches": [{"kernel": "k", "grid": 1, "block": 32, "args": ["in", "out"]}], "reference": {"builtin": "reduce"}})json",
                                                         {{"k.cu", ""}}, "template.json");
  return kernel;
}

spec::KernelTemplate shipped(const char* name) { return spec::TemplateLibrary().find(name); }

/// Integers modulo 2^64, others in extended precision, which holds sums and products of small integers and factors exactly.
struct Value {
  std::uint64_t integer = 0;
  long double number = 0;
};

struct Question {
  ElementType in, out;
  std::string op, transform;
  [[nodiscard]] bool floating() const { return spec::is_floating(in); }
};

Value term(const Question& of, std::uint64_t x_bits, std::uint64_t y_bits) {
  const long double x = spec::to_double(of.in, x_bits), y = spec::to_double(of.in, y_bits);
  const std::uint64_t a = spec::extend(of.in, x_bits), b = spec::extend(of.in, y_bits);
  if (of.transform == "absolute") return {spec::extend(of.out, x < 0 ? 0 - a : a), std::fabs(x)};
  if (of.transform == "square") return {spec::extend(of.out, a * a), x * x};
  if (of.transform == "shifted_square") return {spec::extend(of.out, (a - 3) * (a - 3)), (x - 3) * (x - 3)};
  if (of.transform == "times") return {spec::extend(of.out, a * b), x * y};
  return {spec::extend(of.out, a), x};
}

bool less(const Question& of, const Value& a, const Value& b) {
  if (of.floating()) return a.number < b.number;
  return spec::is_signed(of.out) ? static_cast<std::int64_t>(a.integer) < static_cast<std::int64_t>(b.integer) : a.integer < b.integer;
}

Value naive(const Question& of, const Bits& x, const Bits& y) {
  Value all = term(of, x[0], y[0]);
  for (std::size_t i = 1; i < x.size(); ++i) {
    const Value one = term(of, x[i], y[i]);
    if (of.op == "sum") all = {all.integer + one.integer, all.number + one.number};
    if (of.op == "product") all = {all.integer * one.integer, all.number * one.number};
    if (of.op == "min" && less(of, one, all)) all = one;
    if (of.op == "max" && less(of, all, one)) all = one;
    if (of.op == "and") all.integer &= one.integer;
    if (of.op == "or") all.integer |= one.integer;
    if (of.op == "xor") all.integer ^= one.integer;
  }
  return all;
}

bool agrees(const Question& of, const reference::Expected& expected, const Value& value) {
  if (!of.floating())
    return expected.high == reference::kExactMark && spec::extend(of.out, expected.low) == spec::extend(of.out, value.integer);
  return holds(expected, static_cast<double>(value.number));
}

template <class Use>
void for_every_reduction(Use use) {
  for (const auto& [in, out] :
       {std::pair{"i8", "i32"}, std::pair{"u8", "u32"}, std::pair{"u64", "u64"}, std::pair{"f16", "f32"}, std::pair{"f64", "f64"}}) {
    for (const char* op : {"sum", "product", "min", "max", "and", "or", "xor"}) {
      for (const char* transform : {"identity", "absolute", "square", "shifted_square", "times"}) {
        const Question of{spec::element_type(in), spec::element_type(out), op, transform};
        if (of.floating() && (of.op == "and" || of.op == "or" || of.op == "xor")) continue;
        CAPTURE(std::string(in));
        CAPTURE(of.op);
        CAPTURE(of.transform);
        use(of, spec::Problem{{{"T", in}, {"op", op}, {"transform", transform}}, {{"n", 3001}}});
      }
    }
  }
}

}  // namespace

TEST_CASE_FIXTURE(ReferenceLab,
                  "the reference of a reduction combines every transformed element, whatever its type, operator and transform") {
  for_every_reduction([&](const Question& of, const spec::Problem& problem) {
    Laid laid = lay(reduction(), problem);
    for (const std::size_t data : {kIntegers, kRandom}) {
      const Value right = naive(of, input(laid, 0, data), input(laid, 1, data));
      CHECK(agrees(of, expected(laid, data).front(), right));
    }
    const auto exact = expected(laid, kIntegers).front();
    CHECK((exact.high == reference::kExactMark) == !of.floating());
    if (of.floating()) CHECK(low_of(exact) == high_of(exact));  // f32 and f64 hold every partial result of small integers
  });
}

TEST_CASE_FIXTURE(ReferenceLab, "what is expected after an element was planted is what the changed elements combine to") {
  for_every_reduction([&](const Question& of, const spec::Problem& problem) {
    Laid laid = lay(reduction(), problem);
    auto& asked = laid.data->asked();
    const Bits x = input(laid, 0, kIntegers), y = input(laid, 1, kIntegers);
    const auto buffer = asked.reference->planted_buffer(kIntegers);
    REQUIRE(buffer.has_value() == (of.op != "sum"));
    if (!buffer) return;
    const auto where = laid.data->addresses(asked);
    const auto plants = asked.reference->plant(kIntegers, where, {0, 1500, 3000}, verify::ProblemData::elements(asked, *buffer, where),
                                               asked.expectations[kIntegers].value());
    for (const auto& plant : plants.plants) {
      CHECK(plant.before == x[plant.position]);
      const bool nobodys = of.transform != "identity" && (of.op == "and" || of.op == "or");
      if (nobodys) CHECK(plant.bits == plant.before);
      if (plant.bits == plant.before) continue;
      Bits changed = x;
      changed[plant.position] = plant.bits;
      CHECK(plant.changes == 1);
      CHECK(agrees(of, plant.expected[0], naive(of, changed, y)));
    }
    if (of.transform == "identity") CHECK(plants.plants.front().bits != plants.plants.front().before);
  });
}

TEST_CASE_FIXTURE(ReferenceLab,
                  "special elements give what IEEE arithmetic gives: NaN, infinities, and sums that cancel to twice the digits") {
  const auto numbers = [&](const char* op, const char* accumulate, const char* data) -> std::optional<reference::Expected> {
    Laid laid = lay(reduction(), {{{"T", "f32"}, {"op", op}, {"accumulate", accumulate}}, {{"n", 1000}}});
    const std::size_t set = laid.kernel.reference.definition->data_set(data);
    if (!laid.data->asked().expectations.at(set)) return std::nullopt;
    return expected(laid, set).front();
  };
  CHECK(is_number(*numbers("sum", "fixed_order", "infinite"), kInfinity));
  CHECK(std::isnan(low_of(*numbers("sum", "fixed_order", "nan_last"))));
  CHECK(std::isnan(low_of(*numbers("sum", "fixed_order", "opposite"))));
  CHECK(std::abs(low_of(*numbers("product", "fixed_order", "infinite"))) == kInfinity);
  CHECK(is_number(*numbers("min", "fixed_order", "all_nan"), kInfinity));
  CHECK(is_number(*numbers("max", "fixed_order", "nan_first"), kInfinity));
  CHECK(is_number(*numbers("min", "fixed_order", "nan_first"), -kInfinity));
  CHECK(std::isfinite(low_of(*numbers("max", "fixed_order", "nan_middle"))));
  CHECK_FALSE(numbers("max", "fixed_order", "infinite").has_value());
  CHECK_FALSE(numbers("sum", "fixed_order", "cancelling").has_value());
  // The elements between two large ones that cancel, to more digits than f32 has beside the large ones.
  Laid laid = lay(reduction(), {{{"T", "f32"}, {"op", "sum"}, {"accumulate", "compensated"}}, {{"n", 1000}}});
  const Bits x = input(laid, 0, kRandom);
  double rest = 0;
  for (std::size_t i = 1; i + 1 < x.size(); ++i) rest += spec::to_double(ElementType::F32, x[i]);
  const auto cancelled = expected(laid, laid.kernel.reference.definition->data_set("cancelling")).front();
  CHECK(holds(cancelled, rest));
  CHECK(high_of(cancelled) - low_of(cancelled) < 0.01);  // a plain sum has steps of 64 beside 2^30
}

TEST_CASE_FIXTURE(ReferenceLab, "bits that stand alone are few, and factors are 1, 2 or a half, plus what a transform takes away") {
  Laid some = lay(reduction(), {{{"T", "u8"}, {"op", "or"}}, {{"n", 4096}}});
  int set = 0;
  for (const auto element : input(some, 0, kRandom)) set += std::popcount(element);
  CHECK(set > 0);
  CHECK(set < 32);
  Laid all = lay(reduction(), {{{"T", "u8"}, {"op", "and"}}, {{"n", 4096}}});
  int gaps = 0;
  for (const auto element : input(all, 0, kRandom)) gaps += 8 - std::popcount(element);
  CHECK(gaps == set);
  Laid factors = lay(reduction(), {{{"T", "f32"}, {"op", "product"}, {"transform", "shifted_square"}}, {{"n", 4096}}});
  for (const auto element : input(factors, 0, kIntegers)) {
    const double factor = std::abs(spec::to_double(ElementType::F32, element) - 3);
    if (factor != 1 && factor != 2 && factor != 0.5) FAIL("a factor is ", factor);
  }
}

TEST_CASE_FIXTURE(ReferenceLab, "rows of every type are reduced to what a loop over them gives, and plants to what the changed row gives") {
  const auto kernel = shipped("segmented_reduce");
  for (const std::string& type : kernel.axis("T")->values) {
    for (const char* op : {"sum", "product", "min", "max"}) {
      for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{3, 5000}, {200, 7}, {4, 0}}) {
        CAPTURE(type);
        CAPTURE(std::string(op));
        CAPTURE(rows);
        Laid laid = lay(kernel, {{{"T", type}, {"op", op}}, {{"rows", rows}, {"columns", columns}}});
        auto& asked = laid.data->asked();
        const Question of{asked.buffers[0].type, asked.buffers[1].type, op, "identity"};
        const Bits x = input(laid, 0, kIntegers);
        const auto right = expected(laid, kIntegers);
        REQUIRE(right.size() == static_cast<std::size_t>(rows));
        if (columns == 0) continue;
        const auto row_of = [&](const Bits& elements, std::int64_t row) {
          return Bits(elements.begin() + row * columns, elements.begin() + (row + 1) * columns);
        };
        for (std::int64_t row = 0; row < rows; ++row) {
          const Bits elements = row_of(x, row);
          CHECK(agrees(of, right[static_cast<std::size_t>(row)], naive(of, elements, elements)));
        }
        const auto buffer = asked.reference->planted_buffer(kIntegers);
        REQUIRE(buffer.has_value() == (std::string(op) != "sum"));
        if (!buffer) continue;
        CHECK(asked.reference->problem().planted_row(kIntegers) == columns);
        const auto where = laid.data->addresses(asked);
        const auto plants = asked.reference->plant(kIntegers, where, {0, columns, 2 * columns + 3},
                                                   verify::ProblemData::elements(asked, 0, where), asked.expectations[kIntegers].value());
        for (const auto& plant : plants.plants) {
          const auto row = static_cast<std::int64_t>(plant.position) / columns;
          Bits changed = x;
          changed[plant.position] = plant.bits;
          CHECK(plant.bits != plant.before);
          CHECK(plant.element[0] == static_cast<std::uint64_t>(row));
          const Bits elements = row_of(changed, row);
          CHECK(agrees(of, plant.expected[0], naive(of, elements, elements)));
        }
      }
    }
  }
}

TEST_CASE_FIXTURE(ReferenceLab, "what a row's result may be off by grows with its magnitudes; extremes are exact, and pass over NaN") {
  constexpr double kGrowth = 0x1p-24;  // the unit roundoff of f32, times 8 + sqrt(columns) below
  const std::vector<float> elements = {-1, 2, 4, -8};
  const auto kernel = shipped("segmented_reduce");
  const auto rows = [&](const char* op, const std::vector<float>& values, std::int64_t columns) {
    const auto count = static_cast<std::int64_t>(values.size());
    Laid laid = lay(kernel, {{{"T", "f32"}, {"op", op}}, {{"rows", count / columns}, {"columns", columns}}});
    auto& asked = laid.data->asked();
    const auto where = laid.data->addresses(asked);
    support.upload(where[0], values.data(), values.size() * sizeof(float));
    const auto expectation = asked.reference->expect(kRandom, where, nullptr);
    std::vector<reference::Expected> expected(static_cast<std::size_t>(count / columns));
    support.download(expected.data(), reinterpret_cast<CUdeviceptr>(expectation.outputs[0].wanted.start),
                     expected.size() * sizeof(reference::Expected));
    return expected;
  };
  const double growth = kGrowth * (8 + std::sqrt(2.0));
  const auto half = [](const reference::Expected& one) { return (high_of(one) - low_of(one)) / 2; };
  CHECK(half(rows("sum", elements, 2)[0]) == doctest::Approx(growth * 3));
  CHECK(half(rows("sum", elements, 2)[1]) == doctest::Approx(growth * 12));
  CHECK(half(rows("product", elements, 2)[1]) == doctest::Approx(growth * 32));
  CHECK(is_number(rows("min", elements, 2)[1], -8));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> some = {nan, -3, 5, nan, nan, nan};
  CHECK(is_number(rows("min", some, 3)[0], -3));
  CHECK(is_number(rows("max", some, 3)[0], 5));
  CHECK(is_number(rows("min", some, 3)[1], kInfinity));
  CHECK(is_number(rows("max", some, 3)[1], -kInfinity));
}

TEST_CASE_FIXTURE(ReferenceLab,
                  "an extreme and its first index are found in every data set of every type, with what is planted one after the other") {
  const auto kernel = shipped("argreduce");
  for (const std::string& type : kernel.axis("T")->values) {
    for (const bool least : {false, true}) {
      CAPTURE(type);
      CAPTURE(least);
      Laid laid = lay(kernel, {{{"T", type}, {"op", least ? "min" : "max"}}, {{"n", 1000}}});
      const ElementType element = spec::element_type(type);
      const auto first_extreme = [&](const Bits& x) -> std::optional<std::size_t> {
        std::optional<std::size_t> best;
        for (std::size_t i = 0; i < x.size(); ++i) {
          const double value = spec::to_double(element, x[i]);
          if (std::isnan(value)) continue;
          if (!best || (least ? value < spec::to_double(element, x[*best]) : value > spec::to_double(element, x[*best]))) best = i;
        }
        return best;
      };
      const auto agrees_with = [&](const Bits& x, const reference::Expected& value, const reference::Expected& index) {
        const auto best = first_extreme(x);
        const std::uint64_t bits = best ? x[*best] : least ? spec::highest_bits(element) : spec::lowest_bits(element);
        CHECK((spec::is_floating(element) ? is_number(value, spec::to_double(element, bits))
                                          : is_exactly(value, spec::extend(element, bits))));
        CHECK(is_exactly(index, best ? *best : ~std::uint64_t{0}));
      };
      const auto& definition = *kernel.reference.definition;
      auto& asked = laid.data->asked();
      for (const char* name : {"integers", "guarded", "zeros", "all_bits"}) {
        CAPTURE(std::string(name));
        const std::size_t data = definition.data_set(name);
        Bits x = input(laid, 0, data);
        agrees_with(x, expected(laid, data, 0).front(), expected(laid, data, 1).front());
        const auto buffer = asked.reference->planted_buffer(data);
        if (!buffer) continue;
        const auto where = laid.data->addresses(asked);
        const auto plants = asked.reference->plant(data, where, {0, 31, 32, 999}, verify::ProblemData::elements(asked, 0, where),
                                                   asked.expectations[data].value());
        CHECK(plants.descending);
        CHECK(plants.plants.front().position == 999);
        for (const auto& plant : plants.plants) {
          x[plant.position] = plant.bits;
          agrees_with(x, plant.expected[0], plant.expected[1]);
        }
      }
      const std::size_t unbounded = definition.data_set("unbounded");
      CHECK(is_exactly(expected(laid, unbounded, 1).front(), 500));
    }
  }
}

TEST_CASE_FIXTURE(ReferenceLab, "-0 is +0 to the reference of an extreme") {
  Laid laid = lay(shipped("argreduce"), {{{"T", "f32"}, {"op", "max"}}, {{"n", 100}}});
  auto& asked = laid.data->asked();
  const auto where = laid.data->addresses(asked);
  std::vector<float> zeros(100, -0.0f);
  zeros[7] = 0.0f;
  support.upload(where[0], zeros.data(), zeros.size() * sizeof(float));
  const auto expectation = asked.reference->expect(kIntegers, where, nullptr);
  reference::Expected index{};
  support.download(&index, reinterpret_cast<CUdeviceptr>(expectation.outputs[1].wanted.start), sizeof index);
  CHECK(is_exactly(index, 0));
}

}  // namespace test_device_reductions
