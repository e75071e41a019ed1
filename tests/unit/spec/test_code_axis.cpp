#include "tuner/spec/code_axis.hpp"

#include <doctest/doctest.h>

#include "spec_support.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace test_code_axis {

using namespace attune;
using namespace attune::spec;
using namespace attune::spec::test;

namespace {

/// The sample with an axis more: its text, and what stands in the place of the axis.
std::string with_axis(const std::string& axis) {
  return replaced(sample_template(), R"("n": {"size": {"min": 1}})", R"("map": )" + axis + R"(, "n": {"size": {"min": 1}})");
}

constexpr const char* kMap = R"({"code": {"returns": "A", "arguments": {"x": "A", "k": "i32"}}, "default": "x"})";

std::string axis_error(const std::string& axis) {
  return error_of([&] { static_cast<void>(parse_sample(with_axis(axis))); });
}

std::string code_error(const std::string& code) {
  const KernelTemplate kernel = parse_sample(with_axis(kMap));
  Problem problem = sample_problem();
  problem.choices["map"] = code;
  return error_of([&] { validate(kernel, problem); });
}

}  // namespace

TEST_CASE("code becomes a device function with the declared types, before any macro that could rewrite it") {
  const KernelTemplate kernel = parse_sample(with_axis(kMap));
  Problem problem = sample_problem("i8");
  problem.choices["map"] = "x * A(k) + BLOCK_SIZE";
  const std::string source = make_source(kernel, problem, default_configuration(kernel), DeviceInfo::of_architecture("sm_90"));
  CHECK(contains(source,
                 "using attune_T = signed char;\n"
                 "using attune_A = int;\n"
                 "__device__ __forceinline__ attune_A attune_map(attune_A x, int k) {\n"
                 "  using T = attune_T;\n"
                 "  using A = attune_A;\n"
                 "  return (\n"
                 "#line 1 \"map\"\n"
                 "x * A(k) + BLOCK_SIZE\n"
                 "  );\n"
                 "}\n"
                 "#define "));
}

TEST_CASE("other code makes another problem, and another family") {
  Problem identity = sample_problem(), square = sample_problem();
  identity.choices["map"] = "x";
  square.choices["map"] = "x * x";
  CHECK(to_text(identity) != to_text(square));
  CHECK(family_text(identity) != family_text(square));
  CHECK(problem_from_text(to_text(square)) == square);
}

TEST_CASE("a problem leaves out what stands at its default, and is compiled with it; what differs stays") {
  const KernelTemplate kernel = parse_sample(
      replaced(with_axis(kMap), R"({"choice": ["sum", "max-abs"]})", R"({"choice": ["sum", "max-abs"], "default": "max-abs"})"));
  const auto source = [&](const Problem& problem) {
    return make_source(kernel, problem, default_configuration(kernel), DeviceInfo::of_architecture("sm_90"));
  };
  const Problem spelled{{{"T", "f32"}, {"op", "max-abs"}, {"map", "x"}}, {{"n", 7}}};
  const Problem brief = canonical(kernel, spelled);
  CHECK(brief.choices == std::map<std::string, std::string>{{"T", "f32"}});
  CHECK(source(brief) == source(spelled));
  CHECK(contains(source(brief), "#define ATTUNE_OP_MAX_ABS 1\n"));
  validate(kernel, brief);
  CHECK(contains(error_of([&] { validate(kernel, spelled); }), "names defaults; its key leaves them out: {\"T\":\"f32\",\"n\":7}"));
  const Problem other{{{"T", "f32"}, {"op", "sum"}, {"map", "-x"}}, {{"n", 7}}};
  CHECK(canonical(kernel, other) == other);
  validate(kernel, other);
  CHECK(contains(error_of([&] { validate(kernel, canonical(kernel, {{}, {{"n", 7}}})); }), "gives no type 'T'"));
}

TEST_CASE("code that would leave its place is refused with the reason; what it means is the compiler's business") {
  for (const char* good : {"-x", "max(x, A(0))", "x > 0 ? x : -x", "(x - k) * (x - k)", "no_such_name", "a[3]{}"}) {
    CAPTURE(good);
    CHECK(code_error(good).empty());
  }
  CHECK(contains(code_error(""), "it is empty"));
  CHECK(contains(code_error("   "), "it is empty"));
  CHECK(contains(code_error("x) + (x"), "its ')' closes nothing"));
  CHECK(contains(code_error("(x]"), "its ']' closes nothing"));
  CHECK(contains(code_error("(x"), "a ')' is missing"));
  CHECK(contains(code_error("x; x"), "it holds ';'"));
  CHECK(contains(code_error("x\n#include \"/etc/passwd\""), "line break"));
  CHECK(contains(code_error("#x"), "it holds '#'"));
  CHECK(contains(code_error("x // half"), "a comment"));
  CHECK(contains(code_error("x /* half"), "a comment"));
  CHECK(contains(code_error("x\\"), "it holds '\\'"));
  for (const char* digraph : {"%:include </etc/passwd>", "a<:0:>", "x %> 2", "A<%x%>"})
    CHECK(contains(code_error(digraph), "it holds the digraph"));
  CHECK(contains(code_error(std::string(5000, 'x')), "5000 characters"));
  CHECK(code_error("x").find("names defaults") != std::string::npos);
}

TEST_CASE("a malformed code axis is refused at its place") {
  CHECK(contains(axis_error(R"({"code": {"returns": "A"}})"), "t.json:8:12: the code 'map' has no \"default\""));
  CHECK(contains(axis_error(R"({"code": {"returns": "B"}, "default": "x"})"), "t.json:8:33: the type of 'map' must be one of"));
  CHECK(contains(axis_error(R"({"code": {"arguments": {}}, "default": "x"})"), "returns"));
  CHECK(contains(axis_error(R"({"code": {"returns": "A", "arguments": {"a b": "A"}}, "default": "x"})"), "no C identifier"));
  CHECK(contains(axis_error(R"({"code": {"returns": "A"}, "default": "(x"})"), "is not one expression: a ')' is missing"));
  CHECK(contains(axis_error(R"({"code": {"returns": "A"}, "choice": ["a"], "default": "x"})"), "exactly one of"));
  CHECK(contains(axis_error(R"({"choice": ["a", "b"], "default": "c"})"), "the default of 'map' must be one of a, b"));
}

TEST_CASE("expressions of the template cannot ask for code") {
  const std::string text = replaced(with_axis(kMap), R"("block_size * sizeof(T) <= 1024")", R"("map == 'x'")");
  CHECK(
      contains(error_of([&] { static_cast<void>(parse_sample(text)); }), "'map' is a code of the problem, which a constraint cannot use"));
}

}  // namespace test_code_axis
