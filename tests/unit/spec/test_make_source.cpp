#include <doctest/doctest.h>

#include "spec_support.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace test_make_source {

using namespace attune;
using namespace attune::spec;
using namespace attune::spec::test;

namespace {

const DeviceInfo& h100() {
  static const DeviceInfo device = DeviceInfo::of_architecture("sm_90");
  return device;
}

std::string source_of(const KernelTemplate& kernel, const Problem& problem, const std::string& configuration) {
  return make_source(kernel, problem, configuration_from_text(kernel, configuration), h100());
}

constexpr const char* kTwoPass = R"({"block_size":64,"stage":"two_pass","unroll":true,"waves":1})";

}  // namespace

TEST_CASE("the prelude holds types, choices and parameters, then the file") {
  CHECK(source_of(parse_sample(), sample_problem("i8"), kTwoPass) ==
        "using attune_T = signed char;\n"
        "using attune_A = int;\n"
        "#define ATTUNE_T attune_T\n"
        "#define ATTUNE_T_F32 0\n"
        "#define ATTUNE_T_F64 0\n"
        "#define ATTUNE_T_I8 1\n"
        "#define ATTUNE_OP_SUM 1\n"
        "#define ATTUNE_OP_MAX_ABS 0\n"
        "#define ATTUNE_A attune_A\n"
        "#define ATTUNE_A_F32 0\n"
        "#define ATTUNE_A_F64 0\n"
        "#define ATTUNE_A_I32 1\n"
        "#define ATTUNE_BLOCK_SIZE 64\n"
        "#define ATTUNE_STAGE_TWO_PASS 1\n"
        "#define ATTUNE_STAGE_ATOMIC 0\n"
        "#define ATTUNE_UNROLL 1\n"
        "#line 1 \"sample.cu\"\n"
        "// sample\n\n");
}

TEST_CASE("configurations that differ only in launch-bound parameters or sizes share one source") {
  const KernelTemplate kernel = parse_sample();
  const std::string source = source_of(kernel, sample_problem("f32", 1000), kTwoPass);
  CHECK(source_of(kernel, sample_problem("f32", 5), R"({"block_size":64,"stage":"two_pass","unroll":true,"waves":2})") == source);
  CHECK(source_of(kernel, sample_problem("f32"), R"({"block_size":128,"stage":"two_pass","unroll":true,"waves":1})") != source);
  CHECK_FALSE(contains(source, "WAVES"));
}

TEST_CASE("an empty prefix leaves names as they are written, for kernels of other tuners") {
  const KernelTemplate kernel =
      parse_sample(replaced(sample_template(), R"("name": "sample",)", R"("name": "sample", "macro_prefix": "",)"));
  const std::string source = source_of(kernel, sample_problem("f64"), kTwoPass);
  CHECK(contains(source, "using T = double;\n"));
  CHECK(contains(source, "#define T_F64 1\n"));
  CHECK(contains(source, "#define block_size 64\n"));
  CHECK(contains(source, "#define stage_TWO_PASS 1\n"));
  CHECK_FALSE(contains(source, "#define T "));
  CHECK_FALSE(contains(source, "ATTUNE"));
}

TEST_CASE("half types bring their header, closed by the end of what is precompiled, and only they") {
  const KernelTemplate kernel = parse_sample(replaced(sample_template(), R"(["f32", "f64", "i8"])", R"(["f32", "f16", "bf16", "i8"])"));
  CHECK(source_of(kernel, sample_problem("f16"), kTwoPass)
            .starts_with("#include <cuda_fp16.h>\n#pragma nv_hdrstop\nusing attune_T = __half;\n"));
  CHECK(source_of(kernel, sample_problem("bf16"), kTwoPass)
            .starts_with("#include <cuda_bf16.h>\n#pragma nv_hdrstop\nusing attune_T = __nv_bfloat16;\n"));
  CHECK_FALSE(contains(source_of(kernel, sample_problem("f32"), kTwoPass), "#include"));
  CHECK_FALSE(contains(source_of(kernel, sample_problem("f32"), kTwoPass), "#pragma"));
}

namespace {

std::string source_of_files(const std::map<std::string, std::string>& files, const std::string& type = "f32") {
  std::string names;
  for (const auto& [name, text] : files) names += (names.empty() ? "\"" : ", \"") + name + "\"";
  std::string spec = replaced(sample_template(), R"(["sample.cu"])", "[" + names + "]");
  spec = replaced(spec, R"(["f32", "f64", "i8"])", R"(["f32", "f16", "i8"])");
  return source_of(KernelTemplate::parse(spec, files, "t.json"), sample_problem(type), kTwoPass);
}

}  // namespace

TEST_CASE("headers that a file begins with stand before everything, every other line keeps its number") {
  const std::string source = source_of_files(
      {{"a.cu", "// A kernel.\n\n#include <cub/block/block_reduce.cuh>\n /* why */ # include <b.h>  // because\nint x;\n"}});
  CHECK(source.starts_with("#include <cub/block/block_reduce.cuh>\n#include <b.h>\n#pragma nv_hdrstop\nusing attune_T"));
  CHECK(source.ends_with("#line 1 \"a.cu\"\n// A kernel.\n\n\n /* why */   // because\nint x;\n\n"));
}

TEST_CASE("a header that several files begin with, or a type needs as well, is included once") {
  const std::string source = source_of_files(
      {{"a.cu", "#include <x.h>\nint a;"}, {"b.cu", "#include <y.h>\n#include <x.h>\n#include <cuda_fp16.h>\nint b;"}}, "f16");
  CHECK(source.starts_with("#include <cuda_fp16.h>\n#include <x.h>\n#include <y.h>\n#pragma nv_hdrstop\nusing"));
  CHECK(contains(source, "#line 1 \"a.cu\"\n\nint a;\n#line 1 \"b.cu\"\n\n\n\nint b;\n"));
}

TEST_CASE("an include that may depend on what is before it stays where it is") {
  for (const std::string text : {"#define A 1\n#include <x.h>\n", "#if ATTUNE_T_F32\n#include <x.h>\n#endif\n", "int a;\n#include <x.h>\n",
                                 "// only\n", "/* open\n#include <x.h>\n", "#"}) {
    CAPTURE(text);
    const std::string source = source_of_files({{"a.cu", text}});
    CHECK(source.starts_with("using attune_T"));
    CHECK(source.ends_with("#line 1 \"a.cu\"\n" + text + "\n"));
  }
}

TEST_CASE("fractions stay floating-point in their macro") {
  const KernelTemplate kernel =
      parse_sample(replaced(sample_template(), "[64, 128, 256], \"default\": 128", "[0.5, 2.0], \"default\": 2.0"));
  CHECK(contains(source_of(kernel, sample_problem(), R"({"block_size":2.0,"stage":"two_pass","unroll":true,"waves":1})"),
                 "#define ATTUNE_BLOCK_SIZE 2.0\n"));
}

TEST_CASE("sources are chosen by their conditions, in order, each behind its own line marker") {
  const std::string text = replaced(sample_template(), R"(["sample.cu"])",
                                    R"(["common.cu", {"file": "two.cu", "if": "stage == 'two_pass'"},
                                        {"file": "new.cu", "if": "device.compute_capability >= 90 and T == 'f32'"}])");
  const KernelTemplate kernel =
      KernelTemplate::parse(text, {{"common.cu", "int a;"}, {"two.cu", "int b;"}, {"new.cu", "int c;"}}, "t.json");
  const std::string both = source_of(kernel, sample_problem("f32"), kTwoPass);
  CHECK(contains(both, "#line 1 \"common.cu\"\nint a;\n#line 1 \"two.cu\"\nint b;\n#line 1 \"new.cu\"\nint c;\n"));
  const std::string one = source_of(kernel, sample_problem("f64"), R"({"block_size":64,"stage":"atomic","unroll":true,"waves":1})");
  CHECK_FALSE(contains(one, "two.cu"));
  CHECK_FALSE(contains(one, "new.cu"));
}

TEST_CASE("a configuration without any source is an error of the template") {
  const KernelTemplate kernel =
      parse_sample(replaced(sample_template(), R"(["sample.cu"])", R"([{"file": "sample.cu", "if": "stage == 'atomic'"}])"));
  CHECK(contains(error_of([&] { (void)source_of(kernel, sample_problem(), kTwoPass); }),
                 "no source's condition holds for {\"block_size\":64"));
}

TEST_CASE("a problem that lacks a choice is misuse") {
  const KernelTemplate kernel = parse_sample();
  CHECK_THROWS_AS((void)source_of(kernel, {{{"T", "f32"}}, {{"n", 1}}}, kTwoPass), UsageError);
}

}  // namespace test_make_source
