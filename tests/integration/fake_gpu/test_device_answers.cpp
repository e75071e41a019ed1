// Which answers a problem has, for which configuration, and what memory they take. Runs before test_driver.cpp, whose faults end the use of
// the driver.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/integration/fake_gpu/reference_lab.hpp"

namespace test_device_answers {

using namespace attune;
using namespace attune::test;
using verify::kRandom;

namespace {

/// Rows of a matrix, reduced by an operation that is a parameter; its reference is the built-in one with more text in it.
spec::KernelTemplate rows_template(const std::string& more) {
  const auto reference = spec::shipped_reference("segmented_reduce", {});
  std::string text = reference->form.spec_text;
  text.insert(text.rfind('}'), more);
  auto files = reference->form.files;
  files["rows.json"] = text;
  files["k.cu"] = "";
  return spec::KernelTemplate::parse(R"({
    "attune": 1, "name": "rows", "sources": ["k.cu"],
    "problem": {"T": {"type": ["f32"]}, "rows": {"size": {"min": 0}}, "columns": {"size": {"min": 0}}},
    "parameters": {"op": {"values": ["sum", "max"], "default": "sum"}},
    "buffers": {"in": {"type": "T", "count": "rows * columns"}, "out": {"type": "T", "count": "rows", "output": true}},
    "launches": [{"kernel": "k", "grid": 1, "block": 32, "args": ["in", "out"]}],
    "reference": {"file": "rows.json", "parameters": ["op"]}
  })",
                                     files, "template.json");
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
  Laid laid = lay(rows_template(""), {{{"T", "f32"}}, {{"rows", 33}, {"columns", 100}}});
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
  Laid laid = lay(rows_template(R"(, "refuses": [{"if": "op == 'max' and rows != 33", "needs": "33 rows"}])"),
                  {{{"T", "f32"}}, {{"rows", 33}, {"columns", 100}}});
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
  CHECK(laid.data->fixed_bytes() >= memory.kept + memory.scratch);
}

}  // namespace test_device_answers
