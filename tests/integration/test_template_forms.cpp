// What a template may say of kernels of C++, options by parameters, values in a text and sizes by default: what the commands make of it.
#include <doctest/doctest.h>

#include "tests/integration/cli_fixture.hpp"
#include "tests/support/replaced.hpp"
#include "tuner/base/json.hpp"

namespace test_template_forms {

using namespace attune;
using namespace attune::test;
using nlohmann::json;

namespace {

constexpr const char* kTemplate = R"text({
  "attune": 1, "name": "forms", "sources": ["forms.cu"],
  "problem": {"T": {"type": ["f32", "f64"], "default": "f32"}, "n": {"size": {"min": 1}, "default": 4096}, "rows": {"size": {"min": 3, "max": 3}}},
  "parameters": {"block_size": {"values": "powers(2, 64, 512)", "default": 128}, "registers": {"values": "[32, 64]", "default": 64},
                 "fast": {"values": [false, true], "default": false}},
  "buffers": {"x": {"type": "T", "count": "n * rows", "input": true, "output": true}},
  "options": ["--maxrregcount={registers}", {"option": "--use_fast_math", "if": "fast"}],
  "launches": [{"kernel": "ns::scale<T, block_size>", "grid": "ceil_div(n * rows, block_size)", "block": "block_size", "args": ["x", "n"]},
               {"kernel": "shift", "grid": 1, "block": "block_size", "args": ["x"]}],
  "reference": "none"
})text";

constexpr const char* kSource = R"text(
namespace ns {
template <class T, int kBlock> __global__ void scale(T* x, long long n) {
  const long long i = blockIdx.x * (long long)kBlock + threadIdx.x;
  if (i < n) x[i] = x[i] / T(3);
}
}
__global__ void shift(ATTUNE_T* x) { x[threadIdx.x] += 1; }
)text";

struct Forms : Cli {
  std::string forms;
  Forms() : forms((folder / "forms").string()) {
    write("forms/template.json", kTemplate);
    write("forms/forms.cu", kSource);
  }
  [[nodiscard]] json source_of(const std::string& configuration) const {
    const auto result = attune({"source", forms, "--configuration", configuration, "--json"});
    REQUIRE_MESSAGE(result.exit_code == 0, result.err);
    return base::parse_json(result.out);
  }
};

bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

bool holds(const json& list, const std::string& word) { return std::find(list.begin(), list.end(), word) != list.end(); }

}  // namespace

TEST_CASE_FIXTURE(Forms, "a template whose problem has defaults is checked without naming one, and all of its space binds") {
  const auto result = attune({"template", "check", forms, "--sample", "100", "--json"});
  REQUIRE_MESSAGE(result.exit_code == 0, result.err);
  const json checked = base::parse_json(result.out)[0];
  CHECK(checked["problem"] == json{{"n", 4096}, {"rows", 3}});
  CHECK(checked["space_size"] == 16);  // 4 sizes of block, 2 counts of registers, with and without fast mathematics
  CHECK(checked["sample"]["fits"] == 16);
  CHECK(checked["sample"]["compilations"] == 16);  // options make other code
}

TEST_CASE_FIXTURE(Forms, "the options and the names of kernels are those of the configuration") {
  const json plain = source_of("registers=32"), fast = source_of("fast=true,block_size=512");
  CHECK(holds(plain["options"], "--maxrregcount=32"));
  CHECK_FALSE(holds(plain["options"], "--use_fast_math"));
  CHECK(holds(fast["options"], "--maxrregcount=64"));
  CHECK(holds(fast["options"], "--use_fast_math"));
  CHECK(plain["kernels"][0]["kernel"] == "ns::scale<float, 128>");
  CHECK(fast["kernels"][0]["kernel"] == "ns::scale<float, 512>");
  CHECK(mentions(fast["source"], "template __global__ decltype(ns::scale<float, 512>) ns::scale<float, 512>;"));
}

TEST_CASE_FIXTURE(Forms, "a kernel that is not there is told with those that are, as C++ names them") {
  std::string text = kTemplate;
  text.replace(text.find("\"shift\""), 7, "\"shfit\"");
  write("forms/template.json", text);
  const auto result = attune({"template", "check", forms});
  CHECK(result.exit_code == 3);
  CHECK(mentions(result.err, "template.json:9:27: the launch of \"shfit\" names no compiled kernel"));
  CHECK(mentions(result.err, "ns::scale<float, 128>"));
  CHECK(mentions(result.err, "shift"));
}

TEST_CASE_FIXTURE(Forms, "template arguments that the template cannot have are told at the launch") {
  std::string text = kTemplate;
  text.replace(text.find("ns::scale<T, block_size>"), 24, "ns::scale<T, 'float'>");
  write("forms/template.json", text);
  const auto result = attune({"template", "check", forms});
  CHECK(result.exit_code == 6);
  CHECK(mentions(result.out + result.err, "template.json(8): error"));
}

TEST_CASE_FIXTURE(Forms, "the check tells a fill that the problem cannot have at its place, though nothing is compared with anything") {
  const std::string count = R"("count": "n * rows")";
  write("forms/template.json", replaced(kTemplate, count, count + R"(, "fill": {"range": ["rows", "n"]})"));
  CHECK(attune({"template", "check", forms}).exit_code == 0);
  const auto result = attune({"template", "check", forms, "--n", "2"});
  CAPTURE(result.err);
  CHECK(result.exit_code == 3);
  CHECK(mentions(result.err, "template.json:6:63: the fill of the buffer 'x' for {\"n\":2,\"rows\":3} is a range from 3.0 to below 2.0"));
}

}  // namespace test_template_forms
