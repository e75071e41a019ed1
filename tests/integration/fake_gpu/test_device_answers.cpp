// Which answers a problem has, for which configuration, and what memory they take. Runs before test_driver.cpp, whose faults end the use of
// the driver.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/integration/fake_gpu/reference_lab.hpp"
#include "tests/support/replaced.hpp"

namespace test_device_answers {

using namespace attune;
using namespace attune::test;
using verify::kRandom;

namespace {

/// Rows of a matrix, reduced by an operation that is a parameter.
const std::string kTemplate = R"json({
  "attune": 1, "name": "rows", "sources": ["k.cu"],
  "problem": {"T": {"type": ["f32"]}, "rows": {"size": {"min": 0}}, "columns": {"size": {"min": 0}}},
  "parameters": {"op": {"values": ["sum", "max"], "default": "sum"}},
  "buffers": {"in": {"type": "T", "count": "rows * columns"}, "out": {"type": "T", "count": "rows", "output": true}},
  "launches": [{"kernel": "k", "grid": 1, "block": 32, "args": ["in", "out"]}],
  "reference": {"file": "rows.json", "parameters": ["op"]}
})json";

/// The text of the built-in reference.
const std::string& built_in() { return spec::shipped_reference("segmented_reduce", {})->form.spec_text; }

/// A template whose reference is the code of the built-in one, and `code`, behind another reference.json.
spec::KernelTemplate rows_template(const std::string& reference = built_in(), const std::string& code = "",
                                   const std::string& text = kTemplate) {
  auto files = spec::shipped_reference("segmented_reduce", {})->form.files;
  files["reference.cu"] += code;
  files["rows.json"] = reference;
  files["k.cu"] = "";
  return spec::KernelTemplate::parse(text, files, "template.json");
}

spec::Problem rows_problem(std::int64_t rows, std::int64_t columns) { return {{{"T", "f32"}}, {{"rows", rows}, {"columns", columns}}}; }

/// The built-in reference with further members.
std::string with(const std::string& more) {
  std::string text = built_in();
  return text.insert(text.rfind('}'), more);
}

spec::Configuration with_op(const spec::KernelTemplate& kernel, const std::string& op) {
  return spec::configuration_from_text(kernel, "{\"op\":\"" + op + "\"}");
}

std::ptrdiff_t answered(Laid& laid) {
  const auto& cases = laid.data->cases();
  return std::count_if(cases.begin(), cases.end(), [](const verify::Case& which) { return which.answered; });
}

}  // namespace

TEST_CASE_FIXTURE(ReferenceLab, "answers are those of the configuration that was asked for last, and window 0 has the data that is timed") {
  Laid laid = lay(rows_template(), rows_problem(33, 100));
  const Bits in = input(laid, 0, kRandom);
  double sum = 0, greatest = -2;
  for (std::size_t i = 0; i < 100; ++i) {
    const double element = std::bit_cast<float>(static_cast<std::uint32_t>(in[i]));
    sum += element;
    greatest = std::max(greatest, element);
  }
  auto& asked = laid.data->asked();
  for (const char* op : {"max", "sum", "max"}) {
    CAPTURE(op);
    laid.data->adapt(with_op(laid.kernel, op));
    CHECK(laid.data->has_answers());
    const auto first = expected(laid, kRandom).front();
    CHECK(holds(first, op == std::string("sum") ? sum : greatest));
    CHECK_FALSE(holds(first, op == std::string("sum") ? greatest : sum));
    support.begin_checks();
    laid.data->check_untouched(asked, kRandom, verify::Guard::LowFirst);
    CHECK_FALSE(support.findings().has_value());
  }
}

TEST_CASE_FIXTURE(ReferenceLab, "a case that the reference refuses for one configuration is verified for the others") {
  Laid laid = lay(rows_template(with(R"(, "refuses": [{"if": "op == 'max' and rows != 33", "needs": "33 rows"}])")), rows_problem(33, 100));
  const auto all = static_cast<std::ptrdiff_t>(laid.data->cases().size());
  CHECK(answered(laid) == all);
  laid.data->adapt(with_op(laid.kernel, "max"));
  CHECK(laid.data->asked().answered);
  CHECK(answered(laid) < all);
  laid.data->adapt(with_op(laid.kernel, "sum"));
  CHECK(answered(laid) == all);
}

TEST_CASE_FIXTURE(ReferenceLab, "the memory of answers is that of expectations, of what is kept for planting, and of scratch") {
  Laid laid = lay(spec::TemplateLibrary().find("reduce"), {{{"T", "f32"}, {"op", "sum"}}, {{"n", 1000}}});
  const auto memory = laid.data->asked().reference->answer_memory(kRandom);
  // One interval and 11 totals; 63 parts of 11, and one joined of 512 parts each.
  CHECK(memory.kept == sizeof(reference::Expected) + 11 * 8);
  CHECK(memory.scratch == 63 * 11 * 8 + 11 * 8);
  std::size_t fixed = 0, scratch = 0;
  for (const verify::Case& which : laid.data->cases()) {
    if (&which != &laid.data->asked()) fixed += which.layout.bytes();
    for (std::size_t data = 0; data < laid.data->data_sets().size(); ++data) {
      if (!laid.data->uses(which, data)) continue;
      fixed += which.reference->answer_memory(data).kept;
      scratch = std::max(scratch, which.reference->answer_memory(data).scratch);
    }
  }
  CHECK(laid.data->fixed_bytes() == fixed + scratch);
}

TEST_CASE_FIXTURE(ReferenceLab, "answers that there was no memory for are computed before anything is verified") {
  const auto kernel = rows_template();
  const auto problem = rows_problem(33000, 10);
  const std::string cubin = cubin_of(verify::reference_program(kernel, problem, info)->source);
  verify::ProblemData data(kernel, problem, cubin, support);
  data.allocate(1);
  const auto standard = spec::default_configuration(kernel);
  {
    std::vector<gpu::Buffer> hog;
    try {
      while (true) hog.emplace_back(std::size_t{64} << 10);
    } catch (const EnvironmentError&) {
    }
    CHECK_THROWS_AS(data.expect_all(standard), EnvironmentError);
    CHECK_FALSE(data.asked().answered);
  }
  data.adapt(standard);
  for (const auto& which : data.cases()) CHECK(which.answered);
  CHECK(data.has_answers());
}

TEST_CASE_FIXTURE(ReferenceLab, "a data set of the asked case asks nothing of the others") {
  const auto plain = lay(rows_template(), rows_problem(33, 100)).data->cases().size();
  const std::string odd =
      replaced(built_in(), R"("random": {"values": "random"})",
               R"("random": {"values": "random"}, "odd": {"alters": "random", "cases": "asked", "when": "one is odd"})");
  const std::string altering =
      replaced(replaced(odd, R"("let": {)", R"x("let": {"elements": "33 * columns // int(rows == 33)",)x"), R"("plant": {)",
               R"("alter": {"into": "in", "kernel": "arg_reduce_alter", "args": [{"elements": "u64"}, "T", "op"]}, "plant": {)");
  Laid laid =
      lay(rows_template(altering,
                        "extern \"C\" __global__ void arg_reduce_alter(attune::reference::Alteration*, unsigned long long, int, int) {}\n"),
          rows_problem(33, 100));
  CHECK(laid.data->cases().size() == plain);
  CHECK(answered(laid) == static_cast<std::ptrdiff_t>(plain));
  CHECK(laid.data->asked().expectations[2].has_value());
}

TEST_CASE_FIXTURE(ReferenceLab, "a data set may alter one that stands behind it") {
  const std::string sets =
      replaced(built_in(), R"("random": {"values": "random"})",
               R"("random": {"values": "random"}, "odd": {"alters": "ones", "when": "one is odd"}, "ones": {"values": "ones"})");
  const std::string altering =
      replaced(sets, R"("plant": {)",
               R"("alter": {"into": "in", "kernel": "arg_reduce_alter", "args": [{"in_count": "u64"}, "T", "op"]}, "plant": {)");
  Laid laid =
      lay(rows_template(altering,
                        "extern \"C\" __global__ void arg_reduce_alter(attune::reference::Alteration*, unsigned long long, int, int) {}\n"),
          rows_problem(33, 100));
  CHECK(laid.data->asked().expectations[2].has_value());
  CHECK(holds(expected(laid, 3).front(), 100));
}

TEST_CASE_FIXTURE(ReferenceLab, "a buffer that the template does not have is neither filled nor planted into") {
  std::string text =
      replaced(built_in(), R"("rows": {"size")", R"("mode": {"choice": ["plain", "weighted"], "default": "plain"}, "rows": {"size")");
  text = replaced(text, R"("let": {)", R"("let": {"each": "rows // weights_count",)");
  text = replaced(text, R"("inputs": {)", R"("inputs": {"weights": {"for": {"mode": "weighted"}, "guards": ["each", 1],
      "fill": {"kernel": "segmented_reduce_fill", "args": [{"each": "u64"}]}},)");
  text = replaced(text, R"("into": "in")", R"("into": "weights")");
  text = replaced(text, R"("row": "columns",)", R"("row": "each",)");
  text = replaced(text, R"("random": {"values": "random"})", R"("random": {"values": "random"}, "odd": {"alters": "random"})");
  text = replaced(text, R"("plant": {)",
                  R"("alter": {"into": "weights", "kernel": "arg_reduce_alter", "args": [{"each": "u64"}]}, "plant": {)");
  const auto kernel = rows_template(text);
  Laid laid = lay(kernel, rows_problem(33, 100));
  laid.data->adapt(with_op(kernel, "max"));
  CHECK_FALSE(laid.data->asked().reference->planted_buffer(verify::kIntegers).has_value());
  int plans = 0;
  verify::for_each_reference_plan(kernel, laid.problem, info, [&](const spec::LaunchPlan&) { ++plans; });
  CHECK(plans >= 2);
}

TEST_CASE_FIXTURE(ReferenceLab, "a buffer that is read and written has its own data and an answer apart from them") {
  const std::string in_place = replaced(
      replaced(kTemplate, R"({"in": {"type": "T", "count": "rows * columns"}, "out": {"type": "T", "count": "rows", "output": true}})",
               R"({"v": {"type": "T", "count": "rows * columns", "input": true, "output": true}})"),
      R"(["in", "out"])", R"(["v"])");
  // Without planting, which a buffer that a call changes is not for.
  std::string reference = built_in();
  CHECK_THROWS_WITH_AS((void)rows_template(reference, "", in_place), doctest::Contains("so that 'v' cannot be an output too"), SpecError);
  reference = reference.substr(0, reference.rfind(',', reference.find("\"plant\""))) + "}";
  Laid laid = lay(rows_template(reference, "", in_place), rows_problem(33, 1));
  const Bits v = input(laid, 0, kRandom);
  const auto wanted = expected(laid, kRandom);
  for (std::size_t i = 0; i < v.size(); ++i) CHECK(holds(wanted[i], std::bit_cast<float>(static_cast<std::uint32_t>(v[i]))));
}

TEST_CASE_FIXTURE(ReferenceLab, "a reference that does not say what is expected of every element is refused") {
  const std::string silent =
      replaced(built_in(), R"({"kernel": "segmented_reduce_expect",)", R"({"kernel": "segmented_reduce_expect", "if": "rows != 33",)");
  CHECK_THROWS_WITH_AS(lay(rows_template(silent), rows_problem(33, 100)),
                       doctest::Contains("does not say what is expected of 33 elements, the first of which is 0"), verify::ReferenceError);
}

TEST_CASE_FIXTURE(ReferenceLab, "what a reference gets wrong for one configuration is its own fault") {
  const auto kernel = [](const std::string& before, const std::string& after) {
    return rows_template(replaced(built_in(), before, after));
  };
  const std::string expect = R"({"kernel": "segmented_reduce_expect",)";
  for (const auto& wrong :
       {kernel(expect, R"({"kernel": "not_there", "if": "op == 'max'", "grid": 1, "block": 1, "args": []},)" + expect),
        kernel(expect, R"({"kernel": "segmented_reduce_expect", "if": "op == 'max'", "grid": 1, "block": 1, "args": ["in"]},)" + expect),
        kernel(R"x("chunks": "clamp()x", R"x("chunks": "0 * (rows // (1 - int(op == 'max'))) + clamp()x"),
        kernel(R"("row": "columns")", R"x("row": "columns + int(op == 'max')")x")}) {
    Laid laid = lay(wrong, rows_problem(33, 100));
    CHECK_THROWS_AS(laid.data->adapt(with_op(wrong, "max")), verify::ReferenceError);
  }
}

TEST_CASE_FIXTURE(ReferenceLab, "a planted row that is no factor of the elements is refused at its place") {
  for (const char* row : {"columns - 1", "columns * 2000", "0", "-5"}) {
    CAPTURE(std::string(row));
    const auto kernel = rows_template(replaced(built_in(), R"("row": "columns")", R"("row": ")" + std::string(row) + "\""));
    CHECK_THROWS_WITH_AS(verify::for_each_reference_plan(kernel, rows_problem(33, 100), info, [](const spec::LaunchPlan&) {}),
                         doctest::Contains("which is no factor of their number"), SpecError);
  }
}

namespace {

/// A template that compares nothing, with one input of `count` elements.
spec::KernelTemplate filled_template(const std::string& fill, const std::string& count = "n") {
  return spec::KernelTemplate::parse(replaced(replaced(R"json({
    "attune": 1, "name": "filled", "sources": ["k.cu"], "problem": {"n": {"size": {"min": 0}}}, "parameters": {},
    "buffers": {"in": {"type": "i32", "count": "COUNT", "fill": FILL}, "out": {"type": "f32", "count": 1, "output": true}},
    "launches": [{"kernel": "k", "grid": 1, "block": 32, "args": ["in", "out"]}], "reference": "none"})json",
                                                       "COUNT", count),
                                              "FILL", fill),
                                     {{"k.cu", ""}}, "template.json");
}

std::vector<std::string> labels(verify::ProblemData& data) {
  std::vector<std::string> found;
  for (const auto& which : data.cases()) found.push_back(which.plan.label);
  return found;
}

}  // namespace

TEST_CASE_FIXTURE(ReferenceLab, "where every input is stated there is one data set, and two where one is random") {
  const spec::Problem problem{{}, {{"n", 1000}}};
  for (const auto& [fill, sets] : {std::pair{R"({"value": -2})", 1}, std::pair{R"("index")", 1}, std::pair{R"("uniform")", 2}}) {
    CAPTURE(fill);
    const auto kernel = filled_template(fill);
    verify::ProblemData data(kernel, problem, "", support);
    CHECK(data.uses(data.asked(), kRandom));
    CHECK(data.uses(data.asked(), verify::kIntegers) == (sets == 2));
  }
}

TEST_CASE_FIXTURE(ReferenceLab, "a size of verifying that a fill cannot have is left out, and the asked one is an error") {
  using Labels = std::vector<std::string>;
  const spec::Problem problem{{}, {{"n", 1000}}}, none{{}, {{"n", 0}}};
  const auto possible = filled_template(R"({"range": [0, "n"]})"), one_more = filled_template(R"({"range": [0, "n"]})", "n + 1");
  verify::ProblemData all(possible, problem, "", support), but_empty(one_more, problem, "", support);
  CHECK(labels(all) == Labels{"the asked size", "a ragged size", "a misaligned input", "no elements"});
  CHECK(labels(but_empty) == Labels{"the asked size", "a ragged size", "a misaligned input"});
  CHECK_THROWS_AS(verify::ProblemData(one_more, none, "", support), SpecError);
  verify::ProblemData empty(possible, none, "", support);
  empty.allocate(1);
}

TEST_CASE_FIXTURE(ReferenceLab, "a negative number fills an input as it is") {
  const spec::Problem problem{{}, {{"n", 3}}};
  const auto negative = filled_template(R"({"value": -2})");
  Laid laid{negative, problem, nullptr};
  laid.data = std::make_unique<verify::ProblemData>(laid.kernel, laid.problem, "", support);
  laid.data->allocate(1);
  CHECK(input(laid, 0, kRandom) == Bits(3, 0xFFFFFFFEU));
}

}  // namespace test_device_answers
