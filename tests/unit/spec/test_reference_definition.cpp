// reference.json: what it may say, what is refused at its place, and what a template that names it must have.
#include <doctest/doctest.h>

#include "tests/unit/spec/spec_support.hpp"
#include "tuner/spec/launch_plan.hpp"
#include "tuner/spec/reference_problem.hpp"

namespace test_reference_definition {

using namespace attune;
using namespace attune::spec;
using namespace attune::spec::test;

namespace {

/// A scaled copy: out[i] = factor * in[i], in steps that a parameter of the template decides.
constexpr const char* kReference = R"json({
  "attune_reference": 1, "name": "scaled", "sources": ["scaled.cu"], "compiled": "once",
  "problem": {"T": {"type": ["f32", "f64"]}, "how": {"choice": ["up", "down"], "default": "up"}, "n": {"size": {"min": 0}}, "step": {"size": {}}},
  "scalars": {"factor": {}, "offset": {"for": {"how": "down"}}},
  "let": {"twice": "2 * n", "negative": "factor < 0"},
  "inputs": {"in": {"type": "T", "count": "n", "fill": {"kernel": "fill", "args": ["T", "data", {"factor": "f64"}], "if": "how == 'down'"},
                    "guards": ["factor", 1]}},
  "outputs": {"out": {"count": "n", "element": {"row": "n // 4", "column": 4}}},
  "workspaces": {"sums": {"type": "f64", "count": "step", "keep": true}, "scratch": {"type": "u8", "count": "twice", "init": "zero"}},
  "data_sets": {"integers": {"values": "small_integers"}, "random": {"values": "random"},
                "odd": {"alters": "random", "cases": "asked", "if": "negative", "when": "one element is odd"}},
  "groups": "1 + int(how == 'down')",
  "expect": [{"kernel": "expect", "grid": 1, "block": "32", "args": ["in", "out", {"n": "u64"}, "how", "sums", {"sums": "base"}, "in_type", "data"]}],
  "plant": {"into": "in", "kernel": "plant", "args": ["sums"], "row": 4, "data": {"integers": "alone", "random": "descending"}},
  "alter": {"into": "in", "kernel": "alter", "args": [{"in_count": "u64"}]},
  "leaves": {"how": ["other"]},
  "refuses": [{"if": "factor == 0", "needs": "a factor"}],
  "alone": {"n": "another length"}
})json";

constexpr const char* kTemplate = R"json({
  "attune": 1, "name": "t", "sources": ["k.cu"],
  "problem": {"T": {"type": ["f32", "f64"]}, "n": {"size": {"min": 0}}},
  "parameters": {"step": {"values": [2, 8], "default": 2}},
  "buffers": {"x": {"type": "T", "count": "n"}, "y": {"type": "f64", "count": "n", "output": true}},
  "scalars": {"factor": {"type": "T", "value": "n - 5"}},
  "launches": [{"kernel": "k", "grid": 1, "block": 32, "args": ["x"]}],
  "reference": {"file": "scaled.json", "parameters": ["step"]}
})json";

std::string reference_error(const std::string& before, const std::string& after) {
  return error_of([&] { (void)ReferenceDefinition::parse(replaced(kReference, before, after), {{"scaled.cu", ""}}, "scaled.json"); });
}

KernelTemplate parse(const std::string& text, const std::string& reference = kReference) {
  return KernelTemplate::parse(text, {{"k.cu", ""}, {"scaled.cu", "// code"}, {"scaled.json", reference}}, "folder/template.json");
}

std::string template_error(const std::string& before, const std::string& after) {
  return error_of([&] { (void)parse(replaced(kTemplate, before, after)); });
}

std::vector<ResolvedBuffer> buffers_of(std::int64_t n, ElementType type) {
  ResolvedBuffer x{"x", type, n, n * size_bytes(type)}, y{"y", ElementType::F64, n, 8 * n};
  return {x, y};
}

const DeviceInfo& device() {
  static const DeviceInfo info = DeviceInfo::of_architecture("sm_90");
  return info;
}

ReferenceProblem problem_of(const KernelTemplate& kernel, std::int64_t n, const std::string& step = "2") {
  auto configuration = default_configuration(kernel);
  configuration.index[0] = step == "8" ? 1 : 0;
  return {kernel, Problem{{{"T", "f64"}}, {{"n", n}}}, configuration, buffers_of(n, ElementType::F64), device()};
}

}  // namespace

TEST_CASE("a reference says what it needs, what data it wants and which kernels it has") {
  const auto definition = ReferenceDefinition::parse(kReference, {{"scaled.cu", ""}}, "scaled.json");
  CHECK(definition.name == "scaled");
  CHECK(definition.compiled_once);
  CHECK(definition.own_axes == 4);
  CHECK(definition.data_set("odd") == 2);
  CHECK(definition.data_sets[2].asked_only);
  CHECK(definition.data_sets[2].alters == "random");
  CHECK(definition.plant->data_sets.at("random"));
  CHECK_FALSE(definition.plant->data_sets.at("integers"));
  CHECK(definition.kept == std::vector<std::string>{"sums"});
  CHECK(definition.outputs.front().shape.size() == 2);
  const auto plain = ReferenceDefinition::parse(
      R"({"attune_reference": 1, "name": "r", "sources": ["r.cu"], "problem": {"n": {"size": {}}}, "inputs": {"in": {}}, "outputs": {"out": {}},
          "expect": [{"kernel": "e", "grid": 1, "block": 1, "args": ["in", "out"]}]})",
      {{"r.cu", ""}}, "r.json");
  CHECK_FALSE(plain.compiled_once);
  CHECK(plain.data_sets.size() == 2);
  CHECK(plain.data_sets[0].values == DataValues::SmallIntegers);
}

namespace {

struct Wrong {
  const char *before, *after, *message;
};

constexpr Wrong kWrong[] = {
    {R"("attune_reference": 1)", R"("attune_reference": 2)", "format version 2 is not known"},
    {R"("compiled": "once")", R"("compiled": "twice")", "must be one of for_each_kind, once"},
    {R"("sources": ["scaled.cu"])", R"("sources": ["other.cu"])", "the source file 'other.cu' is missing"},
    {R"("kernel": "expect")", R"("kernel": "not a name")", "is no C identifier"},
    {R"("integers": {"values": "small_integers"}, )", "", "begins with \"integers\""},
    {R"("alters": "random")", R"("alters": "ramdom")", "is no data set"},
    {R"("alters": "random")", R"("alters": "odd")", "alters itself"},
    {R"("if": "negative", "when")", R"("if": "negativ", "when")", "unknown variable 'negativ'"},
    {R"("for": {"how": "down"})", R"("for": {"how": "sideways"})", "must be one of up, down"},
    {R"("for": {"how": "down"})", R"("for": {"n": "1"})", "is no type or choice"},
    {R"("guards": ["factor", 1])", R"("guards": ["factor"])", "are two elements"},
    {R"({"sums": "base"})", R"({"scratch": "base"})", "\"keep\": true"},
    {R"("args": ["sums"])", R"("args": ["sum"])", "the argument 'sum' is nothing known"},
    {R"("plant": {"into": "in")", R"("plant": {"into": "out")", "must be one of in"},
    {R"("out": {"count")", R"("out": {"expected": "values", "count")",
     "\"plant\" needs intervals, but the output 'out' has \"expected\": \"values\""},
    {R"("integers": "alone")", R"("integers": "together")", "must be one of alone, descending"},
    {R"("integers": "alone")", R"("other": "alone")", "'other' is no data set"},
    {R"("leaves": {"how")", R"("leaves": {"n")", "is no choice of the problem"},
    {R"("alone": {"n")", R"("alone": {"how")", "is no size of the problem"},
    {R"("values": "random")", R"("values": "noise")", "must be one of small_integers"},
    {R"("groups")", R"("group")", "group"},
    {R"("integers": {"values": "small_integers"})", R"("integers": {"if": "n > 5"})", "remove \"if\", or name another data set"},
    {R"("random": {"values": "random"})", R"("random": {"alters": "integers"})", "remove \"alters\""},
    {R"("random": {"values": "random"})", R"("random": {"cases": "asked"})", "remove \"cases\""},
    {R"("data": {"integers": "alone")", R"("data": {"odd": "alone")", "the data set 'odd' alters another"},
    {R"({"out": {"count": "n", "element": {"row": "n // 4", "column": 4}}})", "{}", "nothing would be compared"},
    {R"("n": {"size": {"min": 0}})", R"("n": {"size": {"min": 0}}, "data": {"size": {}})",
     "scaled.json:3:125: 'data' is a name that attune gives: the data set"},
    {R"("n": {"size": {"min": 0}})", R"("n": {"size": {"min": 0}}, "group": {"size": {}})", "the group of windows"},
    {R"("inputs": {"in")", R"("inputs": {"1 in")", "scaled.json:6:14: the name '1 in' is no C identifier"},
    {R"("twice": "2 * n")", R"("in_count": "2 * n")", "the name 'in_count' is taken by the size of the problem at line 6"},
    {R"("twice": "2 * n")", R"("group": "2 * n")", "scaled.json:5:11: 'group' is a name that attune gives"},
    {R"("n": {"size": {"min": 0}})", R"("n": {"size": {"min": 0}}, "Type": {"choice": ["f32"]})", "the numbers of element types"},
    {R"("odd": {"alters")", R"("ODD": {"alters": "random", "cases": "asked"}, "odd": {"alters")",
     "'ODD' and 'odd' both become ATTUNE_DATA_ODD"},
    {R"("n": {"size": {"min": 0}})", R"("n": {"size": {"min": 0}}, "how_so": {"code": {"returns": "f32"}, "default": "1.0f"})",
     "no axis of code"},
    {R"("sources": ["scaled.cu"])", R"("sources": [{"file": "scaled.cu", "if": "T == 'f32'"}])", "compiled once serves every problem"},
    {R"(["T", "data", {"factor": "f64"}])", R"(["in"])", "a kernel that fills has no buffer but its own; remove 'in'"},
    {R"("args": ["sums"])", R"("args": ["scratch"])", "the workspace 'scratch' is not kept until then"},
    {R"("args": [{"in_count": "u64"}])", R"("args": ["scratch"])", "the workspace 'scratch' is not kept until then"},
    {R"({"integers": "alone", "random": "descending"})", "{}", "names no data set to plant into"},
    {R"(,
                "odd": {"alters": "random", "cases": "asked", "if": "negative", "when": "one element is odd"})",
     "", "no data set alters another, so that \"alter\" is for nothing"},
    {R"("odd": {"alters": "random", "cases": "asked",)", R"("even": {"cases": "asked"}, "odd": {"alters": "even",)",
     "alters 'even', which only the asked case has"},
    {R"("when": "one element is odd")", R"("when": "one\nis odd")", "it is one line"},
    {R"("out": {"count": "n",)", R"("out": {"count": "n", "if": "n > 1",)", "unknown key 'if' in the output"},
    {R"("leaves": {"how": ["other"]})", R"("leaves": {"data": ["other"]})", "is no choice of the problem"},
    {R"("alone": {"n")", R"("alone": {"in_count")", "is no size of the problem"},
    {R"("for": {"how": "down"})", R"("for": {"data": "odd"})", "is no type or choice"},
};

}  // namespace

TEST_CASE("what a reference.json gets wrong is refused at its place") {
  for (const auto& [before, after, message] : kWrong) {
    CAPTURE(std::string(after));
    const std::string error = reference_error(before, after);
    CAPTURE(error);
    CHECK(contains(error, message));
    CHECK(contains(error, "scaled.json:"));
  }
}

TEST_CASE("a template names a reference of its own folder, whose bytes are no part of its content") {
  const auto kernel = parse(kTemplate);
  REQUIRE(kernel.reference.kind == ReferenceSpec::Kind::Defined);
  CHECK(kernel.reference.builtin.empty());
  CHECK(kernel.reference.inputs == std::vector<int>{0});
  CHECK(kernel.reference.outputs == std::vector<int>{1});
  CHECK(kernel.parts().contains("scaled.json"));
  CHECK(kernel.parts().contains("scaled.cu"));
  CHECK_FALSE(kernel.files.contains("scaled.cu"));
  const auto again = KernelTemplate::parse(kernel.spec_text, kernel.parts(), "template.json");
  CHECK(again.reference.definition->name == "scaled");
  CHECK(again.content_hash == kernel.content_hash);
  CHECK(parse(kTemplate, replaced(kReference, "a factor", "one")).content_hash == kernel.content_hash);
}

TEST_CASE("a template that lacks what its reference needs is refused at its place") {
  struct Wrong {
    const char *before, *after, *message;
  };
  for (const auto& [before, after, message] : {
           Wrong{R"("file": "scaled.json")", R"("file": "scale.json")", "the reference 'scale.json' is missing"},
           Wrong{R"("file": "scaled.json")", R"("file": "scaled.json", "builtin": "reduce")", "not both"},
           Wrong{R"("file": "scaled.json")", R"("file": "scaled.json", "tolerance": 1)", "derives its own tolerance"},
           Wrong{R"("parameters": ["step"])", R"("parameters": ["steps"])", "depends on 'steps', which is no parameter"},
           Wrong{R"("step": {"values": [2, 8], "default": 2})", R"("step": {"values": [0, 8], "default": 8})",
                 "takes the size 'step' from 1 to 281474976710656, which the parameter's value 0 is not"},
           Wrong{R"("step": {"values": [2, 8], "default": 2})", R"("step": {"values": ["wide"], "default": "wide"})",
                 "which the parameter's value wide is not"},
           Wrong{R"(, "parameters": ["step"])", "", "the reference 'scaled' needs the size 'step' in \"problem\""},
           Wrong{R"(["f32", "f64"])", R"(["f16", "f64"])", "needs the type 'T' among f32, f64"},
           Wrong{R"("n": {"size": {"min": 0}})", R"("n": {"size": {"min": 0}}, "how": {"choice": ["left"]})",
                 "needs the choice 'how' among up, down, other in \"problem\", or another name for it"},
           Wrong{R"("n": {"size": {"min": 0}})", R"("n": {"size": {"min": 0}}, "how": {"choice": ["down"]})",
                 "computes the how 'down' with the scalar 'offset'"},
           Wrong{R"("n": {"size": {"min": 0}})", R"("n": {"size": {"min": 0}}, "how": {"choice": ["other"]})",
                 "cannot compute 'how' = 'other'; add \"launches\""},
           Wrong{R"("x": {"type": "T")", R"("x": {"type": "f32")", "needs the input in of type T, not x of type f32"},
           Wrong{R"("factor": {"type": "T", "value": "n - 5"})", R"("fact": {"type": "T", "value": 1})",
                 "computes with the scalar 'factor'"},
       }) {
    CAPTURE(after);
    const std::string error = template_error(before, after);
    CHECK(contains(error, message));
    CHECK(contains(error, "template.json:"));
  }
}

TEST_CASE("a reference depends on the parameters that the template names, whose values it must know") {
  const std::string with_how =
      replaced(kTemplate, R"("default": 2})", R"("default": 2}, "how": {"values": ["up", "left"], "default": "left"})");
  const auto named = [&](const char* parameters) { return replaced(with_how, R"(["step"])", parameters); };
  // Not named: the axis is at its default, whatever the parameter of that name.
  CHECK(std::get<ResolvedLaunch>(problem_of(parse(with_how), 12).expectation(1).steps.front()).arguments[3].bits == 0);
  CHECK(contains(error_of([&] { (void)parse(named(R"(["step", "how"])")); }),
                 "takes the choice 'how' among up, down, which the parameter's value left is not"));
  const std::string each = replaced(kReference, R"("compiled": "once")", R"("compiled": "for_each_kind")");
  const std::string one_way = replaced(named(R"(["step", "how"])"), R"(["up", "left"], "default": "left")", R"(["up"], "default": "up")");
  CHECK_NOTHROW((void)parse(one_way, replaced(kReference, "\"1 + int(how == 'down')\"", "1")));
  CHECK(contains(
      error_of([&] { (void)parse(one_way, each); }),
      "is compiled for each kind of problem, so that its code cannot depend on the parameter 'how'; give it \"compiled\": \"once\""));
  const std::string wider =
      replaced(replaced(kReference, R"("twice": "2 * n")", R"("twice": "2 * step")"), R"("groups": "1)", R"("groups": "twice)");
  CHECK(contains(error_of([&] { (void)parse(kTemplate, wider); }),
                 "makes its \"groups\" of the parameters step; they are the same for all configurations"));
  const std::string block =
      replaced(with_how, R"("how": {"values": ["up", "left"], "default": "left"})", R"("block": {"values": [32], "default": 32})");
  CHECK(contains(error_of([&] { (void)parse(replaced(block, R"(["step"])", R"(["step", "block"])")); }),
                 "the reference 'scaled' has no 'block' in its \"problem\""));
}

TEST_CASE("the problem of a reference has the template's sizes, scalars and parameters, and what attune adds") {
  const auto kernel = parse(kTemplate);
  const auto problem = problem_of(kernel, 12);
  const auto& definition = problem.definition();
  CHECK(problem.groups() == 1);
  CHECK_FALSE(problem.has(definition.data_set("odd")));
  CHECK(problem_of(kernel, 3).has(definition.data_set("odd")));  // the factor is -2
  const auto plan = problem.expectation(1);
  REQUIRE(plan.steps.size() == 1);
  const auto& arguments = std::get<ResolvedLaunch>(plan.steps.front()).arguments;
  REQUIRE(arguments.size() == 8);
  CHECK(arguments[2].bits == 12);
  CHECK(arguments[3].bits == 0);                                             // how: the default, the first
  CHECK(arguments[6].bits == static_cast<std::uint64_t>(ElementType::F64));  // in_type
  CHECK(arguments[7].bits == 1);                                             // data
  CHECK(plan.buffers[static_cast<std::size_t>(arguments[4].index)].name == "sums");
  CHECK(plan.buffers[static_cast<std::size_t>(arguments[4].index)].count == 2);
  CHECK(plan.buffers[static_cast<std::size_t>(arguments[5].index)].name == "sums.base");
  CHECK_FALSE(problem.arguments(*definition.inputs.front().fill, 0).has_value());  // its condition does not hold
  CHECK(problem.text() != problem_of(kernel, 12, "8").text());
  CHECK(problem.template_buffers().at(0) == 0);
}

TEST_CASE("a problem that a reference refuses, or whose buffers have other lengths, is refused with the reason") {
  const auto kernel = parse(kTemplate);
  CHECK_THROWS_WITH_AS(problem_of(kernel, 5),
                       doctest::Contains("with step = 2: the reference 'scaled' needs a factor; exclude what lacks it by a constraint"),
                       SpecError);
  const auto configuration = default_configuration(kernel);
  CHECK_THROWS_WITH_AS(
      (ReferenceProblem{kernel, Problem{{{"T", "f64"}}, {{"n", 7}}}, configuration, buffers_of(8, ElementType::F64), device()}),
      doctest::Contains("needs 7 elements of \"x\", not 8"), SpecError);
}

TEST_CASE("a type of a reference that means another than the template's of that name is refused") {
  const std::string reference =
      replaced(replaced(kReference, R"("scalars": {)", R"("types": {"A": {"by": "T", "map": {"f64": "f32"}, "else": "T"}}, "scalars": {)"),
               R"("out": {"count")", R"("out": {"type": "A", "count")");
  const std::string text =
      replaced(replaced(kTemplate, R"("parameters": {)", R"("types": {"A": {"by": "T", "else": "T"}}, "parameters": {)"),
               R"("y": {"type": "f64")", R"("y": {"type": "A")");
  CHECK_THROWS_WITH_AS(problem_of(parse(text, reference), 12), doctest::Contains("needs \"y\" of type f32, not f64"), ReferenceRefusal);
}

TEST_CASE("the code of a reference knows types, choices and data sets by number where it is compiled once, else by macros") {
  const auto kernel = parse(kTemplate);
  const std::string once = problem_of(kernel, 12).source();
  CHECK(contains(once, "ATTUNE_TYPE_I8 = 0"));
  CHECK(contains(once, "ATTUNE_HOW_UP = 0, ATTUNE_HOW_DOWN = 1"));
  CHECK(contains(once, "ATTUNE_DATA_INTEGERS = 0, ATTUNE_DATA_RANDOM = 1, ATTUNE_DATA_ODD = 2"));
  CHECK_FALSE(contains(once, "#define"));
  const auto each = parse(kTemplate, replaced(kReference, R"("compiled": "once")", R"("compiled": "for_each_kind")"));
  const std::string macros = problem_of(each, 12).source();
  CHECK(contains(macros, "#define ATTUNE_T_F64 1"));
  CHECK(contains(macros, "#define ATTUNE_HOW_UP 1"));
  CHECK(contains(macros, "ATTUNE_DATA_ODD = 2"));
}

}  // namespace test_reference_definition
