#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "spec_support.hpp"
#include "tests/support/temp_folder.hpp"

namespace test_kernel_template {

using namespace attune;
using namespace attune::spec;
using namespace attune::spec::test;

TEST_CASE("a template is read as it is written") {
  const KernelTemplate kernel = parse_sample();
  CHECK(kernel.name == "sample");
  CHECK(kernel.macro_prefix == "ATTUNE_");
  REQUIRE(kernel.problem.size() == 3);
  CHECK(kernel.problem[1].kind == AxisKind::Choice);
  CHECK(kernel.size_names() == std::vector<std::string>{"n"});
  REQUIRE(kernel.parameters.size() == 4);
  CHECK(kernel.parameters[0].name == "block_size");  // declaration order, not alphabetical
  CHECK(kernel.parameters[0].default_index == 1);
  CHECK(kernel.parameter("waves")->binding == Binding::Launch);
  CHECK(kernel.parameter("stage")->binding == Binding::Source);
  CHECK(kernel.parameter("nothing") == nullptr);
  CHECK(kernel.axis("block_size") == nullptr);
  CHECK(kernel.lets[1].first == "grid");
  CHECK(kernel.reference.kind == ReferenceSpec::Kind::None);
  REQUIRE(kernel.steps.size() == 3);
  CHECK(std::get<MemsetSpec>(kernel.steps[0]).buffer == "out");
  const auto& last = std::get<LaunchSpec>(kernel.steps[2]);
  CHECK(last.block.size() == 2);
  CHECK(last.arguments[1].type == ElementType::U32);
}

TEST_CASE("a buffer is input, output, both or workspace") {
  const KernelTemplate kernel = parse_sample(replaced(sample_template(), R"("count": "1", "output": true)",
                                                      R"("count": "1", "output": true, "input": true, "fill": "ones", "align": 16)"));
  CHECK(kernel.buffers[0].input);
  CHECK_FALSE(kernel.buffers[0].output);
  CHECK(kernel.buffers[1].input);
  CHECK(kernel.buffers[1].output);
  CHECK(kernel.buffers[1].fill == Fill::Ones);
  CHECK(kernel.buffers[1].align_bytes == 16);
  CHECK(kernel.buffers[2].workspace);
  CHECK_FALSE(kernel.buffers[2].input);
  CHECK(kernel.buffers[2].init == WorkspaceInit::ZeroOnce);
}

TEST_CASE("plain workspace starts with no promise about its contents") {
  const KernelTemplate kernel = parse_sample(replaced(sample_template(), R"({"init": "zero_once"})", "true"));
  CHECK(kernel.buffers[2].workspace);
  CHECK(kernel.buffers[2].init == WorkspaceInit::None);
}

TEST_CASE("a reference may be kernels with a tolerance, or a built-in") {
  const KernelTemplate kernel = parse_sample(
      replaced(sample_template(), R"("reference": "none")",
               R"("reference": {"launches": [{"kernel": "plain", "grid": 1, "block": 1, "args": ["in", "out"]}], "tolerance": 1e-5})"));
  CHECK(kernel.reference.kind == ReferenceSpec::Kind::Kernel);
  CHECK(kernel.reference.steps.size() == 1);
  CHECK(kernel.reference.tolerance.relative == 1e-5);
  const std::string builtin =
      replaced(replaced(sample_template(), R"("reference": "none")", R"("reference": {"builtin": "reduce"})"), R"("max-abs")", R"("max")");
  CHECK(parse_sample(builtin).reference.builtin == "reduce");
}

TEST_CASE("a tolerance is of all outputs or of each, and says what is wrong with it") {
  const auto parse = [](const std::string& tolerance) {
    return parse_sample(replaced(sample_template(), R"("reference": "none")",
                                 R"("reference": {"launches": [{"kernel": "plain", "grid": 1, "block": 1, "args": ["in", "out"]}], )" +
                                     tolerance + "}"))
        .reference;
  };
  const auto all = parse(R"("tolerance": {"absolute": 0.5, "mismatches": 0.25}, "terms": "n")");
  CHECK_FALSE(all.tolerance.relative.has_value());
  CHECK(all.tolerance.absolute == 0.5);
  CHECK(all.tolerance.mismatches == 0.25);
  CHECK(all.terms.has_value());
  const auto each = parse(R"("tolerance": {"out": {"relative": 0}})");
  CHECK(each.tolerances.at("out").relative == 0);
  CHECK_FALSE(each.tolerance.relative.has_value());
  const auto refusal = [&](const std::string& text, const std::string& why) {
    CAPTURE(text);
    CHECK_THROWS_WITH_AS((void)parse(text), doctest::Contains(why.c_str()), SpecError);
  };
  refusal(R"("tolerance": {"in": 1})", "\"tolerance\" names 'in', which is no output");
  refusal(R"("tolerance": {"relative": 1e-3, "out": 1})", "out");
  refusal(R"("tolerance": -1)", "must not be negative");
  refusal(R"("tolerance": 0)", "must be above 0");
  refusal(R"("tolerance": {"mismatches": 1})", "a share of the elements, below 1");
  refusal(R"("terms": "n +")", "a value expected");
}

TEST_CASE("launches may carry clusters, cooperation, shared memory and repeats") {
  const KernelTemplate kernel =
      parse_sample(replaced(sample_template(), R"({"kernel": "main_pass", "grid": "grid",)",
                            R"json({"kernel": "main_pass", "cluster": [2, 1], "cooperative": true, "shared": "block_size * 4 + pass",
          "repeat": {"count": "ceil_div(n, 100)", "index": "pass"}, "if": "pass < 3", "grid": "grid + pass",)json"));
  const auto& launch = std::get<LaunchSpec>(kernel.steps[1]);
  CHECK(launch.cluster.size() == 2);
  CHECK(launch.cooperative);
  CHECK(launch.shared_bytes.has_value());
  CHECK(launch.repeat->index == "pass");
}

TEST_CASE("the content hash changes with any byte of spec or source, and with nothing else") {
  const std::string hash = parse_sample().content_hash;
  CHECK(hash.size() == 32);
  CHECK(KernelTemplate::parse(sample_template(), sample_files(), "elsewhere.json").content_hash == hash);
  CHECK(parse_sample(sample_template() + "\n").content_hash != hash);
  CHECK(KernelTemplate::parse(sample_template(), {{"sample.cu", "// sample \n"}}, "t.json").content_hash != hash);
  CHECK(KernelTemplate::parse(sample_template(), {{"sample.cu", "// sample\n"}, {"unnamed.cu", "x"}}, "t.json").content_hash == hash);
}

TEST_CASE("a folder is read with its sources; one that lacks something says what") {
  const attune::test::TempFolder folder;
  CHECK(contains(error_of([&] { (void)KernelTemplate::load(folder.path()); }), "template.json: failed reading the template: no such file"));
  std::ofstream(folder / "template.json") << sample_template();
  CHECK(
      contains(error_of([&] { (void)KernelTemplate::load(folder.path()); }), "template.json:4:15: the source file 'sample.cu' is missing"));
  std::ofstream(folder / "sample.cu") << "// sample\n";
  CHECK(KernelTemplate::load(folder.path()).content_hash == parse_sample().content_hash);
}

TEST_CASE("configurations have a canonical text that reads back") {
  const KernelTemplate kernel = parse_sample();
  const Configuration standard = default_configuration(kernel);
  CHECK(to_text(kernel, standard) == R"({"block_size":128,"stage":"atomic","unroll":false,"waves":2})");
  CHECK(configuration_from_text(kernel, to_text(kernel, standard)) == standard);
  CHECK(configuration_from_text(kernel, R"({"waves": 1, "stage": "two_pass", "unroll": true, "block_size": 64})").index ==
        std::vector<std::uint16_t>{0, 0, 0, 0});
  CHECK(value_of(kernel, standard, 0) == Value(std::int64_t{128}));
}

TEST_CASE("a configuration text that does not fit the template is misuse") {
  const KernelTemplate kernel = parse_sample();
  const auto failure = [&](const std::string& text) { return error_of([&] { (void)configuration_from_text(kernel, text); }); };
  CHECK(contains(failure("{"), "it is no JSON"));
  CHECK(contains(failure("[]"), "a JSON object is needed"));
  CHECK(contains(failure(R"({"block_siz": 64})"), "no parameter 'block_siz'; did you mean 'block_size'?"));
  CHECK(contains(failure(R"({"block_size": 64})"), "lacks the parameter 'stage'"));
  CHECK(contains(failure(R"({"block_size": 63, "stage": "atomic", "unroll": true, "waves": 1})"),
                 "'block_size' of template 'sample' cannot be 63; its values: 64, 128, 256"));
  CHECK(contains(failure(R"({"block_size": [64], "stage": "atomic", "unroll": true, "waves": 1})"), "cannot be [64]"));
}

TEST_CASE("problems have a canonical text, and a family text without sizes") {
  const Problem problem = sample_problem("f64", 4096);
  CHECK(to_text(problem) == R"({"T":"f64","n":4096,"op":"sum"})");
  CHECK(family_text(problem) == R"({"T":"f64","op":"sum"})");
  CHECK(problem_from_text(to_text(problem)) == problem);
  CHECK(contains(error_of([] { (void)problem_from_text(R"({"n": 1.5})"); }), "'n' must be a string"));
  CHECK(contains(error_of([] { (void)problem_from_text(R"({"n": 18446744073709551615})"); }), "'n' must be"));
}

TEST_CASE("a problem is checked against the template's axes") {
  const KernelTemplate kernel = parse_sample();
  const auto failure = [&](const Problem& problem) { return error_of([&] { validate(kernel, problem); }); };
  CHECK(failure(sample_problem()).empty());
  CHECK(contains(failure({{{"T", "f16"}, {"op", "sum"}}, {{"n", 1}}}), "cannot be 'f16'; allowed: f32, f64, i8"));
  CHECK(contains(failure({{{"T", "f32"}, {"op", "sun"}}, {{"n", 1}}}), "did you mean 'sum'?"));
  CHECK(contains(failure({{{"op", "sum"}}, {{"n", 1}}}), "gives no type 'T'"));
  CHECK(contains(failure({{{"T", "f32"}, {"op", "sum"}}, {}}), "gives no size 'n'"));
  CHECK(contains(failure(sample_problem("f32", 0)), "the size 'n' of template 'sample' cannot be 0; allowed: 1 to"));
  CHECK(contains(failure({{{"T", "f32"}, {"op", "sum"}}, {{"n", 1}, {"m", 2}}}), "has no size 'm'"));
  CHECK(contains(failure({{{"T", "f32"}, {"op", "sum"}, {"n", "5"}}, {{"n", 1}}}), "has no type, choice or code 'n'"));
}

}  // namespace test_kernel_template
