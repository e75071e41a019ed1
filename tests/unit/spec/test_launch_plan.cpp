#include <doctest/doctest.h>

#include "spec_support.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace test_launch_plan {

using namespace attune;
using namespace attune::spec;
using namespace attune::spec::test;

namespace {

const DeviceInfo& h100() {
  static const DeviceInfo device = DeviceInfo::of_architecture("sm_90");
  return device;
}

KernelTemplate with(const std::string& from, const std::string& to) { return parse_sample(replaced(sample_template(), from, to)); }

Configuration configured(const KernelTemplate& kernel, const std::string& stage, std::int64_t block, std::int64_t waves = 2) {
  return configuration_from_text(kernel, R"({"unroll":false,"stage":")" + stage + R"(","block_size":)" + std::to_string(block) +
                                             R"(,"waves":)" + std::to_string(waves) + "}");
}

const ResolvedLaunch& launch_of(const LaunchPlan& plan, std::size_t step) { return std::get<ResolvedLaunch>(plan.steps.at(step)); }

std::string resolve_error(const KernelTemplate& kernel, const DeviceInfo& device = h100()) {
  return error_of([&] { (void)resolve(kernel, sample_problem(), default_configuration(kernel), device); });
}

/// Whoever asks beforehand is told what `resolve` then throws.
bool exceeds_limits(const KernelTemplate& kernel, const DeviceInfo& device = h100()) {
  bool exceeds = false;
  try {
    (void)resolve(kernel, sample_problem(), default_configuration(kernel), device);
  } catch (const LimitError&) {
    exceeds = true;
  } catch (const Error&) {
    CHECK_THROWS_AS((void)resolve_if_launchable(kernel, sample_problem(), default_configuration(kernel), device), SpecError);
    return false;
  }
  CHECK(resolve_if_launchable(kernel, sample_problem(), default_configuration(kernel), device).has_value() == !exceeds);
  return exceeds;
}

}  // namespace

TEST_CASE("a plan holds buffers, steps, arguments and work of one configured problem") {
  const KernelTemplate kernel = parse_sample();
  const LaunchPlan plan = resolve(kernel, sample_problem("i8", 10000), configured(kernel, "two_pass", 64), h100());
  // tile = 64 * 4 = 256; ceil(10000 / 256) = 40 blocks, below 132 * 2.
  REQUIRE(plan.buffers.size() == 3);
  CHECK(plan.buffers[0].bytes == 10000);
  CHECK(plan.buffers[1].type == ElementType::I32);  // the alias A of i8
  CHECK(plan.buffers[1].bytes == 4);
  CHECK(plan.buffers[2].count == 40);
  CHECK(plan.buffers[2].bytes == 160);
  REQUIRE(plan.steps.size() == 2);  // no memset for two_pass
  const ResolvedLaunch& first = launch_of(plan, 0);
  CHECK(first.kernel == "main_pass");
  CHECK(first.grid == std::array<std::uint32_t, 3>{40, 1, 1});
  CHECK(first.block == std::array<std::uint32_t, 3>{64, 1, 1});
  CHECK(first.cluster == std::array<std::uint32_t, 3>{0, 0, 0});
  CHECK(launch_of(plan, 1).block == std::array<std::uint32_t, 3>{32, 2, 1});
  CHECK(plan.work_bytes == 10000);
  CHECK(plan.work_operations == 10000);
}

TEST_CASE("vectors and structs are so many elements each, at their alignment") {
  const auto buffer = [](const std::string& type) {
    const KernelTemplate kernel = with(R"("in": {"type": "T", "count": "n"})", R"("in": {"type": )" + type + R"(, "count": "n"})");
    return resolve(kernel, sample_problem("f32", 100), default_configuration(kernel), h100()).buffers[0];
  };
  const auto is = [](const ResolvedBuffer& found, ElementType type, std::int64_t count, std::int64_t bytes, int align) {
    return found.type == type && found.count == count && found.bytes == bytes && found.align_bytes == align;
  };
  CHECK(is(buffer(R"("f32x4")"), ElementType::F32, 400, 1600, 16));
  CHECK(is(buffer(R"("f16x2")"), ElementType::F16, 200, 400, 4));
  CHECK(is(buffer(R"("f64x4")"), ElementType::F64, 400, 3200, 16));
  CHECK(is(buffer(R"("u8x3")"), ElementType::U8, 300, 300, 0));
  CHECK(is(buffer(R"({"bytes": 24, "align": 8})"), ElementType::U8, 2400, 2400, 8));
  // Without "align" no struct of that size asks for more: the largest power of two up to 16 that divides it.
  CHECK(is(buffer(R"({"bytes": 24})"), ElementType::U8, 2400, 2400, 8));
  CHECK(is(buffer(R"({"bytes": 64})"), ElementType::U8, 6400, 6400, 16));
  CHECK(is(buffer(R"({"bytes": 24, "align": 1})"), ElementType::U8, 2400, 2400, 1));
  CHECK(is(buffer(R"({"bytes": 5})"), ElementType::U8, 500, 500, 1));
  const auto refusal = [&](const std::string& type) { return error_of([&] { (void)buffer(type); }); };
  CHECK(contains(refusal(R"("f32x5")"), "vectors have 2, 3, 4, 8, 16 elements"));
  CHECK(contains(refusal(R"({"bytes": 12, "align": 8})"), "a struct of 12 bytes cannot begin at multiples of 8"));
  CHECK(contains(refusal(R"({"bytes": 0})"), "a struct has 1 to 1048576 bytes, not 0"));
  CHECK(contains(refusal(R"({"bytes": 24, "align": 3})"), "must be a power of two"));
  CHECK(contains(refusal(R"({"align": 8})"), "give the size of the struct"));
}

TEST_CASE("arguments are buffers, scalars and integers of their declared width") {
  const KernelTemplate kernel = parse_sample();
  const LaunchPlan plan = resolve(kernel, sample_problem("f32", 10000), configured(kernel, "two_pass", 64), h100());
  const std::vector<ResolvedArgument>& first = launch_of(plan, 0).arguments;
  REQUIRE(first.size() == 5);
  CHECK(first[0].kind == ResolvedArgument::Kind::Buffer);
  CHECK(first[2].index == 2);
  CHECK(first[1].kind == ResolvedArgument::Kind::Bits);
  CHECK(first[1].bits == 10000);
  CHECK(first[1].size_bytes == 8);
  CHECK(first[4].kind == ResolvedArgument::Kind::Scalar);
  CHECK(first[4].size_bytes == 4);
  CHECK(plan.scalars[0].bits == 0x40400000U);  // 3.0f
  const std::vector<ResolvedArgument>& last = launch_of(plan, 1).arguments;
  CHECK(last[1].bits == 40);
  CHECK(last[1].size_bytes == 4);
}

TEST_CASE("conditions choose steps") {
  const KernelTemplate kernel = parse_sample();
  const LaunchPlan plan = resolve(kernel, sample_problem(), configured(kernel, "atomic", 64), h100());
  REQUIRE(plan.steps.size() == 2);
  CHECK(std::get<ResolvedMemset>(plan.steps[0]).buffer == 1);
  CHECK(launch_of(plan, 1).kernel == "main_pass");
}

TEST_CASE("launch-bound parameters and the device shape the grid") {
  const KernelTemplate kernel = parse_sample();
  const Problem large = sample_problem("f32", 1 << 24);
  CHECK(launch_of(resolve(kernel, large, configured(kernel, "two_pass", 64, 2), h100()), 0).grid[0] == 264);
  CHECK(launch_of(resolve(kernel, large, configured(kernel, "two_pass", 64, 1), h100()), 0).grid[0] == 132);
  CHECK(launch_of(resolve(kernel, large, configured(kernel, "two_pass", 64, 1), DeviceInfo::of_architecture("sm_75")), 0).grid[0] == 40);
}

TEST_CASE("repeats unroll with their index in every expression of the launch") {
  const KernelTemplate kernel =
      with(R"({"kernel": "main_pass", "grid": "grid", "block": "block_size", "args": ["in", "n",)",
           R"({"kernel": "main_pass", "repeat": {"count": "4", "index": "pass"}, "if": "pass != 2", "grid": "2 ** pass",
               "block": "block_size", "shared": "pass * 16", "args": ["in", "n", {"pass": "i32"},)");
  const LaunchPlan plan = resolve(kernel, sample_problem(), configured(kernel, "atomic", 64), h100());
  REQUIRE(plan.steps.size() == 4);  // the memset and passes 0, 1, 3
  CHECK(launch_of(plan, 1).grid[0] == 1);
  CHECK(launch_of(plan, 2).grid[0] == 2);
  CHECK(launch_of(plan, 3).grid[0] == 8);
  CHECK(launch_of(plan, 3).shared_bytes == 48);
  CHECK(launch_of(plan, 3).arguments[2].bits == 3);
}

TEST_CASE("a repeat of zero passes launches nothing, a negative or absurd count is an error") {
  const std::string launch = R"({"kernel": "main_pass", )";
  const auto repeated = [&](const std::string& count) {
    return with(launch, launch + R"("repeat": {"count": ")" + count + R"(", "index": "i"}, )");
  };
  const KernelTemplate none = repeated("n - 1000");
  CHECK(resolve(none, sample_problem(), default_configuration(none), h100()).steps.size() == 1);
  CHECK(contains(resolve_error(repeated("n - 1001")), "the repeat count is -1"));
  CHECK(contains(resolve_error(repeated("n * 1000")), "the repeat count is 1000000"));
}

TEST_CASE("what the device cannot launch is a limit error at the expression's place") {
  CHECK(contains(resolve_error(with(R"("grid": "grid", "block")", R"("grid": "2 ** 31", "block")")),
                 "t.json:27:38: grid.x of 2147483648 exceeds the device's limit of 2147483647"));
  CHECK(contains(resolve_error(with(R"("grid": "grid", "block")", R"("grid": [1, 65536], "block")")),
                 "grid.y of 65536 exceeds the device's limit of 65535"));
  CHECK(contains(resolve_error(with(R"("block": "block_size")", R"("block": [64, 32])")),
                 "block of 2048 threads exceeds the device's limit of 1024"));
  CHECK(contains(resolve_error(with(R"("block": "block_size")", R"("block": [1, 1, 65])")),
                 "block.z of 65 exceeds the device's limit of 64"));
  CHECK(contains(resolve_error(with(R"("grid": "grid", "block")", R"("shared": 232449, "grid": "grid", "block")")),
                 "232449 bytes of shared memory exceed the device's limit of 232448"));
  CHECK(exceeds_limits(with(R"("grid": "grid", "block")", R"("grid": "n - n", "block")")));
  CHECK(exceeds_limits(with(R"("grid": "grid", "block")", R"("grid": -1, "block")")));
  CHECK(exceeds_limits(with(R"("block": "block_size")", R"("block": 1025)")));
  CHECK(exceeds_limits(with(R"("grid": "grid", "block")", R"("shared": -1, "grid": "grid", "block")")));
  CHECK_FALSE(exceeds_limits(with(R"("grid": "grid", "block")", R"("shared": 232448, "grid": "grid", "block")")));
}

TEST_CASE("clusters need a device that has them, at most 16 blocks and a divisible grid") {
  const auto clustered = [](const std::string& cluster, const std::string& grid) {
    return with(R"("grid": "grid", "block")", R"("cluster": )" + cluster + R"(, "grid": )" + grid + R"(, "block")");
  };
  const KernelTemplate fine = clustered("[2, 2]", "[4, 2]");
  CHECK(launch_of(resolve(fine, sample_problem(), default_configuration(fine), h100()), 1).cluster ==
        std::array<std::uint32_t, 3>{2, 2, 1});
  CHECK(contains(resolve_error(fine, DeviceInfo::of_architecture("sm_80")), "clusters begin with sm_90"));
  CHECK(exceeds_limits(fine, DeviceInfo::of_architecture("sm_80")));
  CHECK_FALSE(exceeds_limits(clustered("16", "16")));
  CHECK(contains(resolve_error(clustered("[16, 2]", "[16, 2]")), "a cluster of 32 blocks exceeds the limit of 16"));
  CHECK(contains(resolve_error(clustered("4", "6")), "6 blocks is no multiple of the cluster's 4"));
}

TEST_CASE("a dependent launch needs a device that has them and a step before it") {
  const KernelTemplate kernel = with(R"("grid": "grid", "block")", R"("dependent": true, "grid": "grid", "block")");
  CHECK(launch_of(resolve(kernel, sample_problem(), default_configuration(kernel), h100()), 1).dependent);
  CHECK(contains(resolve_error(kernel, DeviceInfo::of_architecture("sm_86")), "the dependent launch of"));
  CHECK(exceeds_limits(kernel, DeviceInfo::of_architecture("sm_86")));
  const KernelTemplate alone = with(R"({"memset": "out", "byte": 0, "if": "stage == 'atomic'"},
    {"kernel": "main_pass", "grid": "grid", "block")",
                                    R"({"memset": "out", "byte": 0, "if": "stage == 'two_pass'"},
    {"kernel": "main_pass", "dependent": true, "grid": "grid", "block")");
  CHECK(contains(resolve_error(alone), "is the first step here"));
}

TEST_CASE("a cooperative launch needs a device that can") {
  const KernelTemplate kernel = with(R"("grid": "grid", "block")", R"("cooperative": true, "grid": "grid", "block")");
  CHECK(launch_of(resolve(kernel, sample_problem(), default_configuration(kernel), h100()), 1).cooperative);
  DeviceInfo device = h100();
  device.cooperative_launch = false;
  CHECK(exceeds_limits(kernel, device));
}

TEST_CASE("mistakes that no device could launch are spec errors at their place") {
  CHECK(contains(resolve_error(with(R"("count": "n")", R"("count": "n - 1001")")), "t.json:20:35: the count of the buffer 'in' is -1"));
  CHECK(contains(resolve_error(with(R"("count": "n")", R"("count": "n * 2 ** 40")")), "passes 2^48 bytes"));
  CHECK_FALSE(exceeds_limits(with(R"("count": "n")", R"("count": "n - 1001")")));
  const KernelTemplate narrow = with(R"(["in", "n",)", R"(["in", {"n": "u8"},)");
  CHECK(contains(resolve_error(narrow), "t.json:27:84: the argument 'n' of kernel 'main_pass' is 1000, which is no u8; widen its type"));
  const KernelTemplate fraction =
      parse_sample(replaced(replaced(sample_template(), R"("tile": "block_size * 4")", R"("tile": "block_size * 4", "half": "n / 3")"),
                            R"(["in", "n",)", R"(["in", "half",)"));
  CHECK(contains(resolve_error(fraction), R"(give a type, e.g. {"half": "f32"})"));
  CHECK(contains(resolve_error(with(R"("tile": "block_size * 4")", R"("tile": "block_size // 0")")), "t.json:18:31: "));
}

TEST_CASE("fractional work is rounded, absent work is zero") {
  const KernelTemplate kernel = with(R"json({"bytes": "n * sizeof(T)", "operations": "n"})json", R"({"bytes": "n * 1.5"})");
  const LaunchPlan plan = resolve(kernel, sample_problem("f32", 7), default_configuration(kernel), h100());
  CHECK(plan.work_bytes == 11);  // 10.5, halves away from zero
  CHECK(plan.work_operations == 0);
}

TEST_CASE("constraints decide whether a configuration belongs to the space") {
  const KernelTemplate kernel = parse_sample();
  CHECK(satisfies(kernel, sample_problem("f32"), configured(kernel, "atomic", 256), h100()));
  CHECK_FALSE(satisfies(kernel, sample_problem("f64"), configured(kernel, "atomic", 256), h100()));
  CHECK_FALSE(satisfies(kernel, sample_problem("f32"), configured(kernel, "atomic", 64), DeviceInfo::of_architecture("sm_75")));
  CHECK(satisfies(kernel, sample_problem("f32"), configured(kernel, "two_pass", 64), DeviceInfo::of_architecture("sm_75")));
}

TEST_CASE("scopes know axes, aliases, device figures, parameters and lets") {
  const KernelTemplate kernel = parse_sample();
  const Problem problem = sample_problem("i8", 5000);
  const Configuration configuration = default_configuration(kernel);
  const Scope constants = problem_scope(kernel, problem, h100());
  CHECK(constants("T") == Value(std::string("i8")));
  CHECK(constants("A") == Value(std::string("i32")));
  CHECK(constants("n") == Value(std::int64_t{5000}));
  CHECK(constants("device.warp_size") == Value(std::int64_t{32}));
  CHECK_FALSE(constants("device.colour"));
  CHECK_FALSE(constants("block_size"));
  const Scope scope = make_scope(kernel, problem, configuration, h100());
  CHECK(scope("block_size") == Value(std::int64_t{128}));
  CHECK(scope("grid") == Value(std::int64_t{10}));  // ceil(5000 / 512)
  CHECK(scope("A") == Value(std::string("i32")));
  CHECK_FALSE(scope("nothing"));
}

TEST_CASE("lets are evaluated once and only when needed") {
  std::string lets = R"("l0": "n")";
  for (int i = 1; i < 60; ++i) {  // without a cache this would take 2^60 evaluations
    const std::string before = "l" + std::to_string(i - 1);
    lets += ", \"l" + std::to_string(i) + R"(": "()" + before + " + " + before + ") // 2 + (" + before + R"( - l0) * 0")";
  }
  const KernelTemplate kernel = with(R"("let": {)", R"("let": {"broken": "1 // 0", )" + lets + ", ");
  const Problem problem = sample_problem();
  const Configuration configuration = default_configuration(kernel);
  const Scope scope = make_scope(kernel, problem, configuration, h100());
  CHECK(scope("l59") == Value(std::int64_t{1000}));
  CHECK_THROWS_AS((void)scope("broken"), SpecError);
}

TEST_CASE("a problem that lacks an axis is misuse") {
  const KernelTemplate kernel = parse_sample();
  const Problem no_size{{{"T", "f32"}, {"op", "sum"}}, {}};
  const Problem no_type{{{"op", "sum"}}, {{"n", 5}}};
  CHECK_THROWS_AS((void)resolve(kernel, no_size, default_configuration(kernel), h100()), UsageError);
  CHECK_THROWS_AS((void)resolve(kernel, no_type, default_configuration(kernel), h100()), UsageError);
  CHECK(contains(error_of([&] { (void)problem_scope(kernel, no_size, h100())("n"); }), "gives no 'n'"));
}

TEST_CASE("a reference kernel resolves over the same buffers; without one asking is misuse") {
  const KernelTemplate none = parse_sample();
  CHECK_THROWS_AS((void)resolve_reference(none, sample_problem(), default_configuration(none), h100()), UsageError);
  const KernelTemplate kernel =
      with(R"("reference": "none")", R"("reference": {"launches": [{"kernel": "plain", "grid": "n", "block": 1, "args": ["in", "out"]}]})");
  const LaunchPlan plan = resolve_reference(kernel, sample_problem(), default_configuration(kernel), h100());
  CHECK(plan.buffers.size() == 3);
  REQUIRE(plan.steps.size() == 1);
  CHECK(launch_of(plan, 0).kernel == "plain");
  CHECK(launch_of(plan, 0).grid[0] == 1000);
}

}  // namespace test_launch_plan
