// Launches of kernel templates and of kernels in namespaces: what they are called, and what of them the source instantiates.
#include <doctest/doctest.h>

#include "spec_support.hpp"
#include "tuner/spec/device_info.hpp"
#include "tuner/spec/kernel_name_parts.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace test_kernel_name {

using namespace attune;
using namespace attune::spec;
using namespace attune::spec::test;

namespace {

KernelTemplate with_kernel(const std::string& name) {
  return parse_sample(replaced(sample_template(), R"("kernel": "main_pass")", R"("kernel": ")" + name + "\""));
}

std::string error_of_kernel(const std::string& name) {
  return error_of([&] { static_cast<void>(with_kernel(name)); });
}

Configuration chosen(const KernelTemplate& kernel, const std::string& stage = "atomic") {
  return configuration_from_text(kernel, R"({"block_size":64,"stage":")" + stage + R"(","unroll":true,"waves":1})");
}

/// What the first launch is called.
std::string name_of(const std::string& name, const std::string& type = "f32") {
  const auto kernel = with_kernel(name);
  return launches_of(resolve(kernel, sample_problem(type), chosen(kernel), DeviceInfo::of_architecture("sm_90"))).front()->kernel;
}

std::string source_of(const KernelTemplate& kernel, const std::string& type = "f32", const std::string& stage = "atomic") {
  return make_source(kernel, sample_problem(type), chosen(kernel, stage), DeviceInfo::of_architecture("sm_90"));
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("template arguments are types by name, and expressions of parameters") {
  CHECK(name_of("main_pass<block_size, T, unroll>") == "main_pass<64, float, true>");
  CHECK(name_of("ns::main_pass<min(block_size * 2, 100), A, 'float4'>", "i8") == "ns::main_pass<100, int, float4>");
  CHECK(name_of("main_pass<f64,3>") == "main_pass<double, 3>");
  CHECK(name_of("main_pass <true, False, 2 * block_size>") == "main_pass<true, false, 128>");
  CHECK(name_of("main_pass<'Mode::fast'>") == "main_pass<Mode::fast>");
  CHECK(name_of("ns::inner::main_pass") == "ns::inner::main_pass");
}

TEST_CASE("a source ends with what it instantiates, each once, with the place of the launch") {
  const auto kernel = with_kernel("main_pass<block_size, T>");
  CHECK(source_of(kernel).ends_with("#line 27 \"t.json\"\ntemplate __global__ decltype(main_pass<64, float>) main_pass<64, float>;\n"));
  CHECK(count(source_of(with_kernel("main_pass")), "template __global__") == 0);
  const auto twice = parse_sample(
      replaced(sample_template(),
               R"({"kernel": "main_pass", "grid": "grid", "block": "block_size", "args": ["in", "n", "scratch", "out", "alpha"]})",
               R"({"kernel": "k<1>", "grid": 1, "block": 32, "args": ["in"]}, {"kernel": "k<1>", "grid": 2, "block": 32, "args": ["in"]},
                                              {"kernel": "k<2>", "grid": 2, "block": 32, "args": ["in"]})"));
  CHECK(count(source_of(twice), "template __global__") == 2);
}

TEST_CASE("what a condition of the source leaves out is not instantiated; sizes leave nothing out, as the source must not know them") {
  const auto with_condition = [](const std::string& condition) {
    return parse_sample(replaced(sample_template(), R"({"kernel": "main_pass", )",
                                 R"({"kernel": "main_pass<block_size>", "if": ")" + condition + R"(", )"));
  };
  CHECK(count(source_of(with_condition("stage == 'two_pass'"), "f32", "atomic"), "template __global__") == 0);
  CHECK(count(source_of(with_condition("stage == 'two_pass'"), "f32", "two_pass"), "template __global__") == 1);
  CHECK(count(source_of(with_condition("sizeof(A) == 8"), "f32"), "template __global__") == 0);
  CHECK(count(source_of(with_condition("n > 2000")), "template __global__") == 1);
  CHECK(count(source_of(with_condition("tile > 1024")), "template __global__") == 0);  // a let of block_size, which is 64
  CHECK(count(source_of(with_condition("grid > 1024")), "template __global__") == 1);  // a let of n
  CHECK(count(source_of(with_condition("waves == 2")), "template __global__") == 1);
}

TEST_CASE("a kernel's name is cut at its brackets, and says where the list in them begins") {
  const SourcePosition place{"t.json", 3, 7};
  const auto cut = [&](const std::string& text) { return cut_kernel_name(text, place, "gemm<T, 64>"); };
  const auto parts = cut("ns::gemm <T, (a > b)>");
  CHECK(parts.function == "ns::gemm");
  CHECK(parts.list == "T, (a > b)");
  CHECK(parts.list_offset == 10);
  CHECK_FALSE(cut("ns::gemm").list.has_value());
  CHECK(cut("gemm<>").list == "");
  CHECK(error_of([&] { static_cast<void>(cut("gemm<T")); }) ==
        "t.json:3:7: the kernel 'gemm<T' has no '>' at the end of its template arguments; write e.g. gemm<T, 64>");
  CHECK(contains(error_of([&] { static_cast<void>(cut("ns::<T>")); }), "t.json:3:7: the kernel's name '' is no C identifier"));
}

TEST_CASE("a kernel's name that is none is refused at its place") {
  CHECK(contains(error_of_kernel("main pass"), "t.json:27:16: the kernel's name 'main pass' is no C identifier"));
  CHECK(contains(error_of_kernel("ns::"), "the kernel's name '' is no C identifier"));
  CHECK(contains(error_of_kernel("main_pass<block_size"), "has no '>' at the end of its template arguments"));
  CHECK(contains(error_of_kernel("main_pass<>"), "t.json:27:27: the expression is empty"));
  CHECK(contains(error_of_kernel("main_pass<block_size, >"), "t.json:27:39: the expression is empty"));
  CHECK(contains(error_of_kernel("main_pass<blocksize>"), "t.json:27:27: unknown variable 'blocksize'"));
  CHECK(contains(error_of_kernel("main_pass<n>"), "'n' is a size of the problem, which an argument of a kernel template cannot use"));
  CHECK(contains(error_of_kernel("main_pass<waves>"),
                 "'waves' is a launch-bound parameter, which an argument of a kernel template cannot use"));
  CHECK(contains(error_of_kernel("main_pass<op>"), "'op' is a choice of the problem, which an argument of a kernel template cannot use"));
}

TEST_CASE("a template argument that is no integer, truth value or type is refused where it is used") {
  const auto error = [](const std::string& name) { return error_of([&] { static_cast<void>(name_of(name)); }); };
  CHECK(contains(error("main_pass<block_size / 7>"), "t.json:27:27: the template argument \"block_size / 7\" is 9.14"));
  CHECK(contains(error("main_pass<'a; b'>"),
                 "the template argument \"'a; b'\" is a; b; it must be an integer, a truth value, or the name of a type"));
  // The word of a parameter is a name like any other: whether there is such a type, the compiler says.
  CHECK(name_of("main_pass<stage>") == "main_pass<atomic>");
}

}  // namespace test_kernel_name
