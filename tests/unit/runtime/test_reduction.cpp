// What the typed front ends of reductions ask the dispatcher for. Nothing here needs a GPU.
#include "attune/reduction.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "attune/runtime.hpp"
#include "tests/unit/runtime/environment.hpp"
#include "tests/unit/runtime/lookup_fixture.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace test_reduction {

using namespace attune;
using namespace attune::test;

namespace {

using Choices = std::map<std::string, std::string>;
constexpr std::int64_t kCount = 1000;

struct Fixture {
  TempFolder folder;
  Variable user{"ATTUNE_DB", (folder / "user.db").string()};
  Variable shipped{"ATTUNE_SHIPPED_DB", (folder / "shipped.db").string()};
  Variable cache{"XDG_CACHE_HOME", (folder / "cache").string()};
  spec::DeviceInfo gpu = device("sm_90", "NVIDIA H200", 132);

  /// A result for exactly this problem: its default configuration.
  void tuned(const std::string& name, const Choices& choices) const {
    const auto kernel = spec::TemplateLibrary().find(name);
    const spec::Problem problem{choices, {{"n", kCount}}};
    spec::validate(kernel, problem);
    LayerFile(folder / "user.db").add(best_row(kernel, problem, gpu, spec::to_text(kernel, spec::default_configuration(kernel))), gpu);
  }
  template <class FrontEnd>
  [[nodiscard]] Tier tier(const FrontEnd& front_end) const {
    return front_end.explain_on(gpu.name, kCount).tier;
  }
};

std::string message_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Choices canonical(const Choices& choices) { return spec::canonical(spec::TemplateLibrary().find("reduce"), {choices, {}}).choices; }

/// What a launch has to pass besides the sizes, in order.
std::vector<std::string> argument_names(const std::string& name, const Choices& choices) {
  const auto kernel = spec::TemplateLibrary().find(name);
  const auto plan = spec::resolve(kernel, spec::canonical(kernel, {choices, {{"n", kCount}}}), spec::default_configuration(kernel),
                                  device("sm_90", "any", 132));
  std::vector<std::string> names;
  for (const auto& buffer : plan.buffers)
    if (!buffer.workspace) names.push_back(buffer.name);
  for (const auto& scalar : plan.scalars) names.push_back(scalar.name);
  return names;
}

template <class T>
T scalar_of(const Argument& argument) {
  T value;
  std::memcpy(&value, &argument.bits, sizeof value);
  return argument.size_bytes == sizeof value ? value : T(-12345);
}

template <class T>
concept HasNorm = requires(Runtime& runtime) {
  runtime.norm2<T>();
};
template <class T>
concept HasMean = requires(Runtime& runtime) {
  runtime.mean<T>();
};
template <class T>
concept IsReproducible = requires(Runtime& runtime) {
  runtime.reproducible_reduce<T>(Op::Sum);
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "every front end asks for the problem that was tuned under its own choices") {
  tuned("reduce", {{"T", "f32"}, {"op", "sum"}});
  tuned("reduce", {{"T", "u8"}, {"op", "xor"}});
  tuned("reduce", {{"T", "f16"}, {"op", "sum"}, {"transform", "square"}, {"finish", "root"}});
  tuned("reduce", {{"T", "bf16"}, {"op", "sum"}, {"finish", "mean"}});
  tuned("reduce", {{"T", "i8"}, {"op", "sum"}, {"transform", "times"}});
  tuned("reduce", {{"T", "f32"}, {"op", "sum"}, {"transform", "times"}, {"finish", "scale_bias"}});
  tuned("reduce", {{"T", "f64"}, {"op", "max"}, {"transform", "absolute"}});
  tuned("reduce", {{"T", "f64"}, {"op", "sum"}, {"transform", "shifted_square"}});
  tuned(
      "reduce",
      {{"T", "f32"}, {"op", "custom"}, {"combine", "a > b ? a : b"}, {"start", "A(-1000)"}, {"transform", "custom"}, {"map", "x * A(2)"}});
  tuned("reproducible_reduce", {{"T", "f32"}, {"op", "sum"}});
  tuned("reproducible_reduce", {{"T", "f64"}, {"op", "sum"}, {"accumulate", "compensated"}, {"transform", "times"}});
  tuned("reproducible_reduce", {{"T", "f16"}, {"op", "sum"}, {"accumulate", "fixed_point"}, {"finish", "mean"}});
  Runtime runtime;
  CHECK(tier(runtime.reduce<float>(Op::Sum)) == Tier::ExactSize);
  CHECK(tier(runtime.reduce<std::uint8_t>(Op::Xor)) == Tier::ExactSize);
  CHECK(tier(runtime.norm2<__half>()) == Tier::ExactSize);
  CHECK(tier(runtime.reduce<__half>({.transform = Transform::Square, .finish = Finish::Root})) == Tier::ExactSize);
  CHECK(tier(runtime.mean<__nv_bfloat16>()) == Tier::ExactSize);
  CHECK(tier(runtime.dot<std::int8_t>()) == Tier::ExactSize);
  CHECK(tier(runtime.dot<float>({.finish = Finish::ScaleBias})) == Tier::ExactSize);
  CHECK(tier(runtime.reduce<double>({.op = Op::Max, .transform = Transform::Absolute})) == Tier::ExactSize);
  CHECK(tier(runtime.reduce<double>({.transform = Transform::ShiftedSquare})) == Tier::ExactSize);
  CHECK(tier(runtime.reduce<float>({.op = CustomOp{"a > b ? a : b", "A(-1000)"}, .transform = CustomTransform{"x * A(2)"}})) ==
        Tier::ExactSize);
  CHECK(tier(runtime.reproducible_reduce<float>(Op::Sum)) == Tier::ExactSize);
  CHECK(tier(runtime.reproducible_dot<double>({Accumulate::Compensated})) == Tier::ExactSize);
  CHECK(tier(runtime.reproducible_reduce<__half>({.finish = Finish::Mean}, {Accumulate::FixedPoint, 0.001})) == Tier::ExactSize);
  // What is not among them is another problem.
  CHECK(tier(runtime.reduce<float>(Op::Min)) == Tier::Default);
  CHECK(tier(runtime.dot<float>()) == Tier::Default);
  CHECK(tier(runtime.mean<float>()) == Tier::Default);
  CHECK(tier(runtime.reproducible_reduce<float>(Op::Min)) == Tier::Default);
  CHECK(tier(runtime.reduce<float>({.op = CustomOp{"a > b ? a : b", "A(-1001)"}, .transform = CustomTransform{"x * A(2)"}})) ==
        Tier::Default);
}

TEST_CASE("what is left at its default is not in the key, so that a described sum is the plain one") {
  using detail::Inputs;
  const Choices plain{{"T", "f32"}, {"op", "sum"}};
  CHECK(canonical(detail::reduce_choices({}, "f32", Inputs::One)) == plain);
  CHECK(canonical(detail::reduce_choices({.op = Op::Sum, .transform = Transform::Identity, .finish = Finish::None}, "f32", Inputs::One)) ==
        plain);
  CHECK(canonical(detail::reduce_choices({.op = CustomOp{"a + b", "A(0)"}}, "f32", Inputs::One)) ==
        Choices{{"T", "f32"}, {"op", "custom"}});
}

namespace {

constexpr Op kBitwise[] = {Op::And, Op::Or, Op::Xor};
constexpr Op kArithmetic[] = {Op::Sum, Op::Product, Op::Min, Op::Max};

/// Whether the template's default serves every operator.
template <class T>
void takes_arithmetic(Runtime& runtime) {
  CAPTURE(detail::TypeName<T>::value);
  for (const Op op : kArithmetic) CHECK(runtime.reduce<T>(op).explain_on("sm_90", kCount).tier == Tier::Default);
  CHECK(runtime.dot<T>().explain_on("sm_90", kCount).tier == Tier::Default);
}

template <class T>
void takes_bitwise(Runtime& runtime) {
  CAPTURE(detail::TypeName<T>::value);
  for (const Op op : kBitwise) CHECK(runtime.reduce<T>(op).explain_on("sm_90", kCount).tier == Tier::Default);
}

template <class T>
void refuses_bitwise(Runtime& runtime) {
  const std::string type = detail::TypeName<T>::value;
  for (const Op op : kBitwise) {
    const auto message = message_of([&] { static_cast<void>(runtime.reduce<T>(op)); });
    CHECK(contains(message, std::string("'") + detail::name(op) + "' combines the bits of integers, and the elements are " + type));
  }
}

}  // namespace

TEST_CASE_FIXTURE(Fixture, "reduce takes ten types and four operators, integers three more, which floating-point types refuse") {
  Runtime runtime;
  takes_arithmetic<std::int8_t>(runtime), takes_arithmetic<std::uint8_t>(runtime);
  takes_arithmetic<std::int32_t>(runtime), takes_arithmetic<std::uint32_t>(runtime);
  takes_arithmetic<std::int64_t>(runtime), takes_arithmetic<std::uint64_t>(runtime);
  takes_arithmetic<__half>(runtime), takes_arithmetic<__nv_bfloat16>(runtime);
  takes_arithmetic<float>(runtime), takes_arithmetic<double>(runtime);
  takes_bitwise<std::int8_t>(runtime), takes_bitwise<std::uint8_t>(runtime);
  takes_bitwise<std::int32_t>(runtime), takes_bitwise<std::uint32_t>(runtime);
  takes_bitwise<std::int64_t>(runtime), takes_bitwise<std::uint64_t>(runtime);
  refuses_bitwise<__half>(runtime), refuses_bitwise<__nv_bfloat16>(runtime);
  refuses_bitwise<float>(runtime), refuses_bitwise<double>(runtime);
}

TEST_CASE("narrow types come out as wide as they are accumulated, and means, norms and reproducible sums are of floating-point types") {
  static_assert(std::is_same_v<Reduce<std::int8_t>::Result, std::int32_t> && std::is_same_v<Reduce<std::uint8_t>::Result, std::uint32_t>);
  static_assert(std::is_same_v<Reduce<__half>::Result, float> && std::is_same_v<ReproducibleReduce<__nv_bfloat16>::Result, float>);
  static_assert(std::is_same_v<Dot<std::int64_t>::Result, std::int64_t> && std::is_same_v<Reduce<double>::Result, double>);
  static_assert(HasNorm<float> && HasNorm<__half> && HasMean<double> && IsReproducible<__nv_bfloat16>);
  static_assert(!HasNorm<std::int32_t> && !HasMean<std::uint8_t> && !IsReproducible<std::int64_t>);
}

TEST_CASE_FIXTURE(Fixture, "a finish or transform that the elements do not have is misuse when the front end is made") {
  Runtime runtime;
  CHECK(contains(message_of([&] { static_cast<void>(runtime.reduce<int>({.finish = Finish::Mean})); }),
                 "the finish 'mean' is of floating-point elements, and these are i32"));
  CHECK(contains(message_of([&] { static_cast<void>(runtime.reduce<std::uint8_t>({.finish = Finish::Root})); }), "'root'"));
  CHECK(contains(message_of([&] { static_cast<void>(runtime.dot<float>({.transform = Transform::Square})); }),
                 "multiplied and cannot be transformed"));
  CHECK(contains(message_of([&] { static_cast<void>(runtime.dot<float>({.transform = CustomTransform{"x"}})); }),
                 "multiplied and cannot be transformed"));
  CHECK(runtime.reduce<int>({.finish = Finish::ScaleBias}).explain_on("sm_90", kCount).tier == Tier::Default);
}

TEST_CASE_FIXTURE(Fixture, "a way to accumulate that does not fit the operator, and a resolution that cannot be counted in, are misuse") {
  Runtime runtime;
  const auto refusal = [&]<class T>(T, const Reduction& reduction, const Reproducible& how) {
    return message_of([&] { static_cast<void>(runtime.reproducible_reduce<T>(reduction, how)); });
  };
  CHECK(contains(refusal(1.0f, {.op = Op::Max}, {Accumulate::Compensated}),
                 "the accumulation 'compensated' is of sums, and the operator is 'max'"));
  CHECK(contains(refusal(1.0f, {.op = CustomOp{"a + b", "0"}}, {Accumulate::FixedPoint, 1}), "the operator is 'custom'"));
  CHECK(contains(refusal(1.0f, {}, {Accumulate::FixedOrder, 1}), "a resolution is of Accumulate::FixedPoint"));
  for (const double resolution : {0.0, -1.0, 1e39, 1e-39, 1e-60, std::numeric_limits<double>::quiet_NaN(), HUGE_VAL}) {
    CAPTURE(resolution);
    CHECK(contains(refusal(1.0f, {}, {Accumulate::FixedPoint, resolution}), "give a positive number that f32 can represent"));
  }
  for (const double resolution : {1e39, 1e-60}) CHECK(refusal(1.0, {}, {Accumulate::FixedPoint, resolution}).empty());
  CHECK(contains(refusal(1.0, {}, {Accumulate::FixedPoint, 1e-310}), "f64"));
}

TEST_CASE_FIXTURE(Fixture, "an expression that is none is misuse when the front end is made, with the reason") {
  Runtime runtime;
  const auto refusal = [&](const Reduction& reduction) { return message_of([&] { static_cast<void>(runtime.reduce<float>(reduction)); }); };
  CHECK(contains(refusal({.op = CustomOp{"a + b; exit(1)", "A(0)"}}), "it holds ';'"));
  CHECK(contains(refusal({.op = CustomOp{"", "A(0)"}}), "it is empty"));
  CHECK(contains(refusal({.op = CustomOp{"a * b", "A(1"}}), "a ')' is missing"));
  CHECK(contains(refusal({.transform = CustomTransform{"x // twice"}}), "a comment"));
}

TEST_CASE("arguments are in the order of the template, with the values that were given and their defaults") {
  using Names = std::vector<std::string>;
  const Names names{"in", "other", "out", "shift", "scale", "bias"};
  CHECK(argument_names("reduce", {{"T", "f32"}, {"op", "sum"}}) == names);
  CHECK(argument_names("reduce", {{"T", "f16"}, {"op", "sum"}, {"transform", "times"}}) == names);
  CHECK(argument_names("reproducible_reduce", {{"T", "f64"}, {"op", "sum"}}) ==
        Names{"in", "other", "out", "shift", "scale", "bias", "resolution"});

  const auto* const in = reinterpret_cast<const double*>(0x1000);
  const auto* const other = reinterpret_cast<const double*>(0x2000);
  auto* const out = reinterpret_cast<double*>(0x3000);
  const auto sum = Reduce<double>::arguments(in, out, {.shift = 1.5, .bias = -3});
  CHECK(sum[0].bits == 0x1000);
  CHECK(sum[1].bits == 0);
  CHECK(sum[2].bits == 0x3000);
  CHECK(scalar_of<double>(sum[3]) == 1.5);
  CHECK(scalar_of<double>(sum[4]) == 1);
  CHECK(scalar_of<double>(sum[5]) == -3);
  const auto dot = Dot<double>::arguments(in, other, out, {.scale = 2});
  CHECK(dot[0].bits == 0x1000);
  CHECK(dot[1].bits == 0x2000);
  CHECK(dot[2].bits == 0x3000);
  CHECK(scalar_of<double>(dot[4]) == 2);
  // In the accumulator's type, whatever the elements are.
  CHECK(scalar_of<std::int32_t>(Reduce<std::int8_t>::arguments(nullptr, nullptr, {.bias = -70000})[5]) == -70000);
  CHECK(scalar_of<float>(Reduce<__half>::arguments(nullptr, nullptr, {.scale = 0.1f})[4]) == 0.1f);
}

TEST_CASE_FIXTURE(Fixture, "the resolution is passed in the accumulator's type, behind the values") {
  Runtime runtime;
  const auto sum = runtime.reproducible_reduce<__half>(Op::Sum, {Accumulate::FixedPoint, 0.1});
  CHECK(scalar_of<float>(sum.arguments(nullptr, nullptr)[6]) == 0.1f);
  const auto dot = runtime.reproducible_dot<double>({Accumulate::FixedPoint, 0.1});
  CHECK(scalar_of<double>(dot.arguments(nullptr, nullptr, nullptr)[6]) == 0.1);
  CHECK(scalar_of<double>(dot.arguments(nullptr, nullptr, nullptr, {.scale = 3})[4]) == 3);
}

}  // namespace test_reduction
