// What a template says in few words: options that depend on parameters, values as a range, sizes with a default, conditions of a launch.
#include <doctest/doctest.h>

#include "spec_support.hpp"
#include "tuner/spec/device_info.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace test_template_options {

using namespace attune;
using namespace attune::spec;
using namespace attune::spec::test;

namespace {

std::string with_options(const std::string& options) {
  return replaced(sample_template(), R"("reference": "none",)", R"("reference": "none", "options": )" + options + ",");
}

std::string options_error(const std::string& options) {
  return error_of([&] { static_cast<void>(parse_sample(with_options(options))); });
}

/// What the compiler gets for the sample with these options.
std::vector<std::string> given(const std::string& options, const std::string& block_size, const std::string& unroll,
                               const std::string& type = "f32", const std::string& architecture = "sm_90") {
  const auto kernel = parse_sample(with_options(options));
  const auto configuration =
      configuration_from_text(kernel, R"({"block_size":)" + block_size + R"(,"stage":"atomic","unroll":)" + unroll + R"(,"waves":2})");
  return compiler_options(kernel, sample_problem(type), configuration, DeviceInfo::of_architecture(architecture));
}

using Texts = std::vector<std::string>;

const ResolvedLaunch& launch_of(const LaunchPlan& plan) { return *launches_of(plan).front(); }

/// The first launch of the sample, with more keys, of a configuration.
ResolvedLaunch launched(const std::string& keys, const std::string& stage, const std::string& architecture = "sm_90") {
  const auto kernel = parse_sample(replaced(sample_template(), R"({"kernel": "main_pass", )", R"({"kernel": "main_pass", )" + keys + ", "));
  const auto configuration = configuration_from_text(kernel, R"({"block_size":128,"stage":")" + stage + R"(","unroll":false,"waves":2})");
  // 4,096 elements: 8 blocks.
  return launch_of(resolve(kernel, sample_problem("f32", 4096), configuration, DeviceInfo::of_architecture(architecture)));
}

}  // namespace

TEST_CASE("a name in an option is the value of a parameter, a type or a choice") {
  CHECK(given(R"(["-DB={block_size}", "-DU={unroll}", "-DT={T}", "-DA={A}", "-DOP={op}"])", "64", "true", "i8") ==
        Texts{"-DB=64", "-DU=true", "-DT=i8", "-DA=i32", "-DOP=sum"});
  CHECK(given(R"(["--fmad={unroll}"])", "128", "false") == Texts{"--fmad=false"});
  CHECK(given(R"(["-DLIST={1}", "-DSPACED={ T }", "-DOPEN={T"])", "128", "false") == Texts{"-DLIST={1}", "-DSPACED={ T }", "-DOPEN={T"});
}

TEST_CASE("an option with a condition is given where that holds") {
  const std::string fast = R"([{"option": "--use_fast_math", "if": "unroll"}, {"option": "-DWIDE", "if": "T == 'f64'"}])";
  CHECK(given(fast, "128", "true") == Texts{"--use_fast_math"});
  CHECK(given(fast, "128", "false", "f64") == Texts{"-DWIDE"});
  const std::string of_device = R"([{"option": "-DNEW", "if": "device.compute_capability >= 90"}])";
  CHECK(given(of_device, "128", "false", "f32", "sm_90") == Texts{"-DNEW"});
  CHECK(given(of_device, "128", "false", "f32", "sm_80").empty());
  // 256 registers are too many, and the condition leaves them out.
  CHECK(given(R"([{"option": "--maxrregcount={block_size}", "if": "block_size < 256"}])", "256", "false").empty());
}

TEST_CASE("an option that some value makes one that no template may give is refused at its place") {
  CHECK(options_error(R"(["--maxrregcount={block_size}"])") ==
        "t.json:30:36: the option '--maxrregcount=256' (of '--maxrregcount={block_size}') needs = and a number from 1 to 255 behind "
        "--maxrregcount; docs/template-format.md, \"Options\", lists those that may; constraints do not count here: say where it is right, "
        "{\"option\": ..., \"if\": ...}");
  CHECK(contains(options_error(R"(["-create-pch={op}"])"), "may read or write files"));
  CHECK(contains(options_error(R"(["--{op}=true"])"), "the option '--sum=true' (of '--{op}=true') may not be given by a template"));
  // What depends on the device is looked at when it is given.
  const std::string late = R"([{"option": "-create-pch={op}", "if": "device.compute_capability >= 90"}])";
  CHECK(contains(error_of([&] { (void)given(late, "128", "false"); }), "t.json:30:47: the option '-create-pch=sum'"));
  CHECK(given(late, "128", "false", "f32", "sm_80").empty());
}

TEST_CASE("an option says what it cannot use") {
  CHECK(contains(options_error(R"(["-DX={blocksize}"])"), "t.json:30:42: unknown variable 'blocksize'"));
  CHECK(contains(options_error(R"(["-DX={waves}"])"), "'waves' is a launch-bound parameter, which an option cannot use"));
  CHECK(contains(options_error(R"(["-DX={device.sm_count}"])"), "'device.sm_count' belongs to the device, which an option cannot use"));
  CHECK(contains(options_error(R"(["-DX={n}"])"), "'n' is a size of the problem, which an option cannot use"));
  CHECK(contains(options_error(R"([{"option": "-w"}])"), "say where it is given; else write its text alone"));
  CHECK(contains(options_error(R"([{"if": "unroll"}])"), R"(give its text, e.g. {"option": "--use_fast_math", "if": "fast"})"));
  CHECK(contains(options_error(R"([{"option": "-w", "when": "unroll"}])"), "unknown key 'when' in an option"));
  CHECK(contains(options_error(R"([{"option": "-w", "if": "n > 4"}])"),
                 "'n' is a size of the problem, which an option's condition cannot use"));
}

TEST_CASE("values may be a range, powers or a list of Python's") {
  const auto values = [](const std::string& text) {
    return parse_sample(replaced(sample_template(), R"("values": [64, 128, 256])", R"("values": )" + text)).parameters[0].values;
  };
  const auto numbers = [](std::initializer_list<std::int64_t> list) {
    std::vector<Value> expected;
    for (const auto number : list) expected.emplace_back(number);
    return expected;
  };
  CHECK(values("\"range(32, 257, 96)\"") == numbers({32, 128, 224}));
  CHECK(values("\"powers(2, 32, 512)\"") == numbers({32, 64, 128, 256, 512}));
  CHECK(values(R"("[32 * i for i in range(1, 5)] + [256]")") == numbers({32, 64, 96, 128, 256}));
}

TEST_CASE("values in a string are refused as those of a list are, at their place") {
  const auto error = [](const std::string& text) { return sample_error(R"([64, 128, 256])", text); };
  CHECK(contains(error("\"powers(2, 32)\""), "t.json:12:31: failed parsing the expression \"powers(2, 32)\": powers takes 3 arguments"));
  CHECK(contains(error("\"range(5, 5)\""), "t.json:12:30: the values of 'block_size' are empty"));
  CHECK(contains(error(R"("[128] + [128]")"), "the values of 'block_size' hold 128 twice"));
  CHECK(contains(error(R"("[128, 'a']")"), "the values of 'block_size' mix kinds"));
  CHECK(contains(error(R"("128")"), "a list such as [16, 32], range(1, 12) or powers(2, 32, 1024) expected"));
  CHECK(contains(error("\"range(70000)\""), "more than 65535 values"));
}

TEST_CASE("a size with a default need not be named, and stands in the key all the same") {
  const auto kernel =
      parse_sample(replaced(sample_template(), R"("n": {"size": {"min": 1}})", R"("n": {"size": {"min": 1}, "default": 4096})"));
  const Problem problem = canonical(kernel, {{{"T", "f32"}, {"op", "sum"}}, {}});
  CHECK(to_text(problem) == R"({"T":"f32","n":4096,"op":"sum"})");
  CHECK_NOTHROW(validate(kernel, problem));
  CHECK(to_text(canonical(kernel, sample_problem("f32", 7))) == R"({"T":"f32","n":7,"op":"sum"})");
  CHECK(contains(error_of([&] {
                   validate(kernel, {{{"T", "f32"}, {"op", "sum"}}, {}});
                 }),
                 "lacks a size that has a default; its key names it: {\"T\""));
}

TEST_CASE("a size that can be one number alone need not be named") {
  const auto kernel = parse_sample(replaced(sample_template(), R"({"min": 1})", R"({"min": 64, "max": 64})"));
  CHECK(to_text(canonical(kernel, {{{"T", "f32"}, {"op", "sum"}}, {}})) == R"({"T":"f32","n":64,"op":"sum"})");
}

TEST_CASE("the default of a size is one of its sizes") {
  const auto error = [](const std::string& axis) { return sample_error(R"({"size": {"min": 1}})", axis); };
  CHECK(error(R"({"size": {"min": 2, "max": 9}, "default": 1})") ==
        "t.json:8:52: the default of 'n' is 1, which is not from 2 to 9, as its size must be");
  CHECK(contains(error(R"({"size": {}, "default": "many"})"), "the default of 'n' must be an integer"));
}

TEST_CASE("a problem may have no axis at all") {
  const auto kernel = KernelTemplate::parse(R"({"attune": 1, "name": "fixed", "sources": ["sample.cu"], "problem": {}, "parameters": {},
    "buffers": {"out": {"type": "f32", "count": 64, "output": true}},
    "launches": [{"kernel": "fixed", "grid": 1, "block": 64, "args": ["out"]}], "reference": "none"})",
                                            sample_files(), "t.json");
  CHECK_NOTHROW(validate(kernel, {}));
  CHECK(to_text(Problem{}) == "{}");
  CHECK(problem_from_text("{}") == Problem{});
  CHECK(resolve(kernel, {}, default_configuration(kernel), DeviceInfo::of_architecture("sm_90")).buffers[0].count == 64);
}

TEST_CASE("a launch has clusters and depends on the step before it where its conditions hold") {
  const std::string clusters = R"("cluster": {"blocks": 4, "if": "stage == 'two_pass'"})";
  CHECK(launched(clusters, "two_pass").cluster == std::array<std::uint32_t, 3>{4, 1, 1});
  CHECK(launched(clusters, "atomic").cluster == std::array<std::uint32_t, 3>{0, 0, 0});
  CHECK(launched(clusters, "atomic", "sm_80").cluster == std::array<std::uint32_t, 3>{0, 0, 0});  // none there, and none asked for
  CHECK(launched(R"("cluster": {"blocks": [2, 1], "if": "True"})", "atomic").cluster == std::array<std::uint32_t, 3>{2, 1, 1});
  const std::string dependent = R"("dependent": "stage == 'atomic'")";
  CHECK(launched(dependent, "atomic").dependent);
  CHECK_FALSE(launched(dependent, "two_pass").dependent);  // the first step there
  CHECK(launched(R"("dependent": true)", "atomic").dependent);
  CHECK_FALSE(launched(R"("dependent": false)", "two_pass").dependent);
}

TEST_CASE("conditions of a launch that say nothing are refused") {
  const auto error = [](const std::string& keys) {
    return sample_error(R"({"kernel": "main_pass", )", R"({"kernel": "main_pass", )" + keys + ", ");
  };
  CHECK(contains(error(R"("cluster": {"blocks": 4})"), "say where there are clusters; else give the blocks alone"));
  CHECK(contains(error(R"("cluster": {"if": "True"})"), R"(give the blocks of a cluster, e.g. {"blocks": 4, "if": "clustered"})"));
  CHECK(contains(error(R"("cluster": {"blocks": 4, "if": "clustered"})"), "unknown variable 'clustered'"));
  CHECK(contains(error(R"("dependent": "later")"), "unknown variable 'later'"));
  CHECK(contains(error(R"("dependent": "waves == 2", "cooperative": true)"), "\"dependent\" or \"cooperative\", not both"));
}

}  // namespace test_template_options
