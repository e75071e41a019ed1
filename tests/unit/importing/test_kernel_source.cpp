#include "tuner/importing/kernel_source.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "attune/error.hpp"
#include "tuner/importing/cuda_kernel.hpp"
#include "tuner/importing/kernel_name.hpp"

namespace test_kernel_source {

using namespace attune;
using namespace attune::importing;

TEST_CASE("a kernel's arguments are counted through brackets, launch bounds and comments") {
  const std::string code = without_comments(R"(// __global__ void k(int a);
__device__ void other(int a) { k_impl(a); }
extern "C" __global__ void __launch_bounds__(BX * 2)
    k(const float* __restrict__ a /* , int b */, float (*table)[2], vec<int, 4> v, int n) { }
__global__ void none() { }
__global__ void nothing(void) { })");
  const auto kernels = source_kernels(code, "k.cu");
  REQUIRE(kernels.size() == 3);
  CHECK(argument_count(kernels[0]) == 4);
  CHECK(argument_count(kernels[1]) == 0);
  CHECK(argument_count(kernels[2]) == 0);
}

TEST_CASE("comments become blanks, and lines keep their numbers") {
  CHECK(without_comments("a // b\nc /* d\n e */ f \"// g\"") == "a     \nc     \n      f \"// g\"");
  CHECK(without_comments("a /* b") == "a     ");
}

TEST_CASE("a source that has all it needs gets nothing before it") {
  ImportedKernel kernel;
  kernel.kernel = "k";
  kernel.arguments.resize(2);
  fit_to_source(kernel, "extern \"C\" __global__ void k(float* a, float* b) {}");
  CHECK(kernel.before.empty());
  CHECK(kernel.notes.empty());
}

TEST_CASE("a source that defines the parameters itself where nobody has defined kernel_tuner finds it defined, whoever describes it") {
  ImportedKernel kernel;
  kernel.kernel = "k";
  fit_to_source(kernel, "#ifndef kernel_tuner\n#define block_size_x 16\n#endif\nextern \"C\" __global__ void k() {}");
  CHECK(kernel.before == "#define kernel_tuner 1\n");
}

namespace {

/// The import of a kernel of that name without arguments, fitted to the source.
ImportedKernel fitted(const std::string& name, const std::string& source, const std::string& template_arguments = "") {
  ImportedKernel kernel;
  kernel.kernel = name;
  kernel.template_arguments = template_arguments;
  fit_to_source(kernel, source);
  return kernel;
}

std::string only_note(const ImportedKernel& kernel, Note::Kind kind) {
  REQUIRE(kernel.notes.size() == 1);
  CHECK(kernel.notes[0].kind == kind);
  return kernel.notes[0].text;
}

}  // namespace

TEST_CASE("a kernel that is not extern \"C\" is launched by its name, with the namespace that it stands in") {
  CHECK(fitted("k", "__global__ void k() {}").notes.empty());
  const auto inside = fitted("k", "namespace a::b { inline namespace v1 { __global__ void k() {} } }");
  CHECK(inside.kernel == "a::b::v1::k");
  CHECK(only_note(inside, Note::Kind::Changed) == "the launch names it 'a::b::v1::k', with its namespace");
  CHECK(fitted("b::k", "namespace a { namespace b { __global__ void k() {} } }").kernel == "a::b::k");
  CHECK(fitted("k", "namespace a { extern \"C\" __global__ void k() {} }").notes.empty());
  CHECK(only_note(fitted("b::k", "namespace a { __global__ void k() {} }"), Note::Kind::Decide)
            .starts_with("its source shows no __global__"));
}

TEST_CASE("a kernel template is launched with the arguments that the file gives it, and without them somebody has to decide") {
  const std::string source = "template <class T, int N> __global__ void k() {}";
  CHECK(fitted("k", source, "f32, 4").notes.empty());
  CHECK(only_note(fitted("k", source), Note::Kind::Decide).starts_with("it is a kernel template: write its arguments behind its name"));
  CHECK(only_note(fitted("k", "__global__ void k() {}", "f32"), Note::Kind::Decide).find("it is no template where it shows") !=
        std::string::npos);
}

TEST_CASE("a kernel whose name is not seen outside is told") {
  CHECK(only_note(fitted("k", "static __global__ void k() {}"), Note::Kind::Decide).starts_with("it is static or in an unnamed namespace"));
  CHECK(only_note(fitted("k", "namespace { __global__ void k() {} }"), Note::Kind::Decide)
            .starts_with("it is static or in an unnamed namespace"));
}

TEST_CASE("of several kernels the one of just that name is launched, else somebody has to decide") {
  const std::string two = "namespace a { __global__ void k() {} } namespace b { __global__ void k() {} } ";
  CHECK(fitted("k", two + "__global__ void k() {}").kernel == "k");
  CHECK(fitted("b::k", two).kernel == "b::k");
  const auto first = fitted("k", two);
  CHECK(first.kernel == "a::k");
  REQUIRE(first.notes.size() == 2);
  CHECK(first.notes[0].kind == Note::Kind::Decide);
  CHECK(first.notes[0].text == "several kernels are called so; the launch names the first, 'a::k'");
}

TEST_CASE("a template that its source instantiates is told with the line") {
  const std::string source = "template <int N> __global__ void k() {}\ntemplate __global__ void k<4>();\n";
  CHECK(only_note(fitted("k", source, "4"), Note::Kind::Decide).starts_with("line 2 of the source instantiates it"));
}

TEST_CASE("a wrong number of arguments is told") {
  ImportedKernel kernel;
  kernel.kernel = "k";
  kernel.arguments.resize(1);
  fit_to_source(kernel, "template <class T> __device__ T f(T x);\n__global__ void k(float* a, float* b) {}");
  CHECK(only_note(kernel, Note::Kind::Decide) == "it takes 2 arguments, and the file lists 1");
}

TEST_CASE("template arguments are written as a launch writes them: types by attune's names, others in quotes, numbers and parameters") {
  const spec::SourcePosition place{"t1.json", 3, 7};
  const auto written = read_kernel_name("ns::k<float, TILE * 2, true, float4, unsigned int, ns::Sum<int, 2>>", place);
  CHECK(written.function == "ns::k");
  CHECK(launch_arguments({"float", "TILE * 2", "true", "float4", "unsigned int", "bool", "-3"}, {"TILE"}, place) ==
        "f32, TILE * 2, true, 'float4', u32, 'bool', - 3");
  CHECK(launch_arguments({"char", "long", "unsigned"}, {}, place) == "'char', 'long', u32");  // which are types of their own
  CHECK(read_kernel_name("k<Foo<Bar<int>>, (2 > 1)>", place).arguments == std::vector<std::string>{"Foo<Bar<int>>", "(2 > 1)"});
  REQUIRE(written.arguments.size() == 6);
  CHECK(written.arguments[5].find("Sum") != std::string::npos);
  CHECK(read_kernel_name("k", place).arguments.empty());
  CHECK_THROWS_WITH_AS(static_cast<void>(launch_arguments({written.arguments[5]}, {}, place)),
                       doctest::Contains("t1.json:3:7: the template argument 'ns::Sum"), SpecError);
  CHECK_THROWS_WITH_AS(static_cast<void>(read_kernel_name("k<1", place)), doctest::Contains("has no '>' at the end"), SpecError);
  CHECK_THROWS_WITH_AS(static_cast<void>(read_kernel_name("2k", place)), doctest::Contains("the kernel's name '2k'"), SpecError);
}

namespace {

using Role = ImportedArgument::Role;

/// What is told of arguments where a file lists these for the source's kernel k.
std::vector<std::string> told_of(const std::vector<std::pair<Role, spec::ElementType>>& listed, const std::string& source) {
  ImportedKernel kernel;
  kernel.kernel = "k";
  for (const auto& [role, type] : listed) {
    ImportedArgument argument;
    argument.name = std::string(1, static_cast<char>('a' + kernel.arguments.size()));
    argument.role = role;
    argument.type = type;
    kernel.arguments.push_back(argument);
  }
  fit_to_source(kernel, source);
  std::vector<std::string> told;
  for (const Note& note : kernel.notes) {
    CHECK(note.kind == Note::Kind::Decide);
    told.push_back(note.about + ": " + note.text);
  }
  return told;
}

}  // namespace

TEST_CASE("arguments of a kernel template are compared where their types do not depend on it") {
  const auto told = told_of({{Role::Scalar, spec::ElementType::F32}, {Role::Input, spec::ElementType::I8}},
                            "template <class T> __global__ void k(float* a, T* b) {}");
  REQUIRE(told.size() == 2);  // the other one: what the template's arguments are
  CHECK(told[0].find("'a': the kernel takes memory here") != std::string::npos);
}

TEST_CASE("an argument of another kind or type than the kernel's is told, with what the kernel takes and its line") {
  const auto told = told_of({{Role::Scalar, spec::ElementType::I32},
                             {Role::Input, spec::ElementType::F32},
                             {Role::Scalar, spec::ElementType::F32},
                             {Role::Output, spec::ElementType::F32},
                             {Role::Both, spec::ElementType::BF16}},
                            "extern \"C\" __global__ void k(const float* __restrict__ x,\n  long unsigned int n, int m,\n"
                            "  double out[],\n  __half* halves) {}");
  REQUIRE(told.size() == 5);
  CHECK(told[0] == "the argument 'a': the kernel takes memory here, 'float* x' (line 1), and the file gives it a number");
  CHECK(told[1] == "the argument 'b': the kernel takes a number here, 'unsigned long n' (line 2), and the file gives it memory");
  CHECK(told[2] == "the argument 'c': the kernel takes 'int m' (line 2) here, and the file's type is f32");
  CHECK(told[3] == "the argument 'd': the kernel takes 'double* out' (line 3) here, and the file's type is f32");
  CHECK(told[4] == "the argument 'e': the kernel takes '__half* halves' (line 4) here, and the file's type is bf16");
}

TEST_CASE("of arguments that are the same bits, or that may be another type in another build, nothing is told") {
  using spec::ElementType;
  const std::vector<std::pair<Role, ElementType>> one = {{Role::Input, ElementType::F32}};
  CHECK(told_of(one, "extern \"C\" __global__ void k(float4* a) {}").empty());
  CHECK(told_of({{Role::Scalar, ElementType::I32}}, "extern \"C\" __global__ void k(unsigned a) {}").empty());
  CHECK(
      told_of(one, "#if D\ntypedef double real;\n#else\ntypedef float real;\n#endif\nextern \"C\" __global__ void k(real* a) {}").empty());
  CHECK(told_of(one, "extern \"C\" __global__ void k(TYPE* a) {}").empty());
  CHECK(told_of(one, "extern \"C\" __global__ void k(LIST(int, a)) {}").empty());
  CHECK(told_of(one, "#if D\nextern \"C\" __global__ void k(double* a) {}\n#else\nextern \"C\" __global__ void k(float* a) {}\n#endif")
            .empty());
}

TEST_CASE("an array of integers that indexes another is filled with zeros, which are in range, and told; no other is") {
  ImportedKernel kernel;
  kernel.kernel = "k";
  kernel.arguments.resize(4);
  for (std::size_t i = 0; i < 3; ++i) kernel.arguments[i].type = spec::ElementType::I32;
  kernel.arguments[3].role = Role::Output;
  const std::string source =
      "extern \"C\" __global__ void k(const int* rows, const int* chosen, const int* plain, float* out) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  out[i] = plain[chosen[i]] + rows[i];\n}";
  fit_to_source(kernel, source);
  CHECK(kernel.arguments[0].fill == spec::Fill::Uniform);
  CHECK(kernel.arguments[1].fill == spec::Fill::Zeros);
  CHECK(kernel.arguments[2].fill == spec::Fill::Uniform);
  REQUIRE(kernel.notes.size() == 1);
  CHECK(kernel.notes[0].text.find("zeros stand there") != std::string::npos);
  kernel.arguments[1].fill = spec::Fill::Ones;  // as a file says
  fit_to_source(kernel, source);
  CHECK(kernel.arguments[1].fill == spec::Fill::Ones);
}

TEST_CASE("a parameter that the source defines anew is told with the line, unless a condition keeps the definition out") {
  ImportedKernel kernel;
  kernel.kernel = "k";
  for (const char* name : {"TILE", "ITEMS", "BLOCK", "OTHER"}) {
    kernel.parameters.emplace_back();
    kernel.parameters.back().name = name;
    kernel.parameters.back().values = {spec::Value(std::int64_t{1})};
  }
  fit_to_source(kernel,
                "#ifndef ITEMS\n#define ITEMS 4\n#endif\n#if defined(_MSC_VER)\n # define BLOCK 32\n#endif\n# define TILE 16\n"
                "extern \"C\" __global__ void k() {}");
  REQUIRE(kernel.notes.size() == 1);
  CHECK(kernel.notes[0].about == "the parameter 'TILE'");
  CHECK(kernel.notes[0].text.find("line 7 of the source defines it anew") == 0);
}

}  // namespace test_kernel_source
