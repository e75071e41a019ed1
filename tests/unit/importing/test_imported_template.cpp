#include <doctest/doctest.h>

#include "tests/unit/importing/import_fixture.hpp"
#include "tuner/space/launch_classes.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace test_imported_template {

using namespace attune;
using namespace attune::importing;
using namespace attune::importing::test;

namespace {

/// Blocks and threads of a configuration.
struct Geometry {
  std::vector<std::int64_t> grid, block;
};

Geometry geometry(const spec::KernelTemplate& kernel, const std::string& configuration) {
  const auto plan = spec::resolve(kernel, problem_of(kernel), spec::configuration_from_text(kernel, configuration),
                                  spec::DeviceInfo::of_architecture("sm_90"));
  const auto& launch = *spec::launches_of(plan).front();
  return {{launch.grid[0], launch.grid[1], launch.grid[2]}, {launch.block[0], launch.block[1], launch.block[2]}};
}

/// How many of its configurations are measured by themselves.
std::uint64_t different_launches(const spec::KernelTemplate& kernel) {
  const auto problem = problem_of(kernel);
  const auto device = spec::DeviceInfo::of_architecture("sm_90");
  const auto space = space::SearchSpace::build(kernel, problem, device);
  return space::LaunchClasses(kernel, problem, device, space).count();
}

const spec::BufferSpec& buffer(const spec::KernelTemplate& kernel, const std::string& name) {
  for (const auto& one : kernel.buffers)
    if (one.name == name) return one;
  throw std::runtime_error("the template has no buffer " + name);
}

std::string arguments(const spec::KernelTemplate& kernel) {
  std::string text;
  for (const auto& argument : std::get<spec::LaunchSpec>(kernel.steps.front()).arguments) text += argument.name + " ";
  return text;
}

}  // namespace

TEST_CASE_FIXTURE(Dialects, "the kernel's file is copied byte for byte, and nothing stands around one that needs nothing") {
  const auto made = import(attune::test::kSchemaT1);
  CHECK(made.files.size() == 2);
  CHECK(made.files.at("scale.cu") == attune::test::kSchemaSource);
  const auto kernel = parsed(made);
  CHECK(kernel.name == "scale");
  CHECK(kernel.macro_prefix.empty());
  CHECK_FALSE(spec::has_reference(kernel));
}

TEST_CASE_FIXTURE(Dialects, "a file of the schema gives blocks, threads, arguments and a size of the largest argument") {
  const auto kernel = parsed(import(attune::test::kSchemaT1));
  const auto found = geometry(kernel, R"({"bx":128,"tile":2})");
  CHECK(found.grid == std::vector<std::int64_t>{16, 1, 1});
  CHECK(found.block == std::vector<std::int64_t>{128, 1, 1});
  CHECK(arguments(kernel) == "in out factor ");
  CHECK(buffer(kernel, "in").input);
  CHECK(buffer(kernel, "out").output);
  CHECK_FALSE(buffer(kernel, "out").input);
  REQUIRE(kernel.problem.size() == 1);
  CHECK(kernel.problem[0].min == 4096);
  CHECK(kernel.problem[0].max == 4096);
}

TEST_CASE_FIXTURE(Dialects, "Kernel Tuner's problem is divided by its divisors, and GlobalSize is left out") {
  const auto made = import(attune::test::kKernelTunerT1);
  const auto kernel = parsed(made);
  CHECK(kernel.name == "blur_rows");
  const auto found = geometry(kernel, R"({"block_size_x":32,"block_size_y":4,"tile_x":3,"padding":0,"filter_width":3})");
  CHECK(found.grid == std::vector<std::int64_t>{6, 64, 1});  // 512 / 96 rounded up, 256 / 4
  CHECK(found.block == std::vector<std::int64_t>{32, 4, 1});
  CHECK(has_note(made, Note::Kind::LeftOut, "\"GlobalSize\"", "Kernel Tuner goes by \"ProblemSize\""));
  CHECK(has_note(made, Note::Kind::LeftOut, "'-lineinfo'", ""));
  REQUIRE(kernel.options.size() == 1);
  CHECK(kernel.options[0].text == "-use_fast_math");
}

TEST_CASE_FIXTURE(Dialects, "what Kernel Tuner puts in constant memory and passes as well is both") {
  const auto kernel = parsed(import(attune::test::kKernelTunerT1));
  CHECK(arguments(kernel) == "out in weights_argument ");
  CHECK(buffer(kernel, "weights").memory == spec::Memory::Constant);
  CHECK(buffer(kernel, "weights_argument").memory == spec::Memory::Global);
  const spec::Scope sizes = [](std::string_view name) -> std::optional<spec::Value> {
    return name == "problem_size_x" ? std::int64_t{512} : std::int64_t{256};
  };
  CHECK(buffer(kernel, "in").count.integer(sizes) == (512 + 3 - 1) * 256);
  CHECK(buffer(kernel, "weights").count.integer(sizes) == 3);
}

TEST_CASE_FIXTURE(Dialects, "arrays begin where vectors of 16 bytes may be read, as the allocations of other tuners do") {
  const auto kernel = parsed(import(attune::test::kKernelTunerT1));
  CHECK(buffer(kernel, "in").align_bytes == 16);
  CHECK(buffer(kernel, "out").align_bytes == 16);
}

TEST_CASE_FIXTURE(Dialects, "constant memory that the source does not declare is an argument") {
  write("blur.cu", R"(extern "C" __global__ void blur(float* out, const float* in, const float* weights) {})");
  const auto made = import(attune::test::kKernelTunerT1);
  CHECK(arguments(parsed(made)) == "out in weights ");
  CHECK(has_note(made, Note::Kind::Changed, "'weights'", "no __constant__ variable of this name"));
}

TEST_CASE_FIXTURE(Dialects, "a source that is not extern \"C\" stands as it is behind the macros that it asks for") {
  const auto made = import(attune::test::kKernelTunerT1);
  CHECK(made.files.at("blur.cu") == attune::test::kKernelTunerSource);
  CHECK(contains(made.files.at("attune_before.cu"), "#define kernel_tuner 1\n"));
  const auto kernel = parsed(made);
  REQUIRE(kernel.sources.size() == 2);
  CHECK(kernel.sources[1].file == "blur.cu");
}

TEST_CASE_FIXTURE(Dialects, "KTT's vector types are elements at their alignment, and what no template says of data is told as left out") {
  const auto made = import(attune::test::kKttT1);
  const auto kernel = parsed(made);
  CHECK(buffer(kernel, "atoms").type == "f32");
  CHECK(buffer(kernel, "atoms").count.text() == "256");
  CHECK(buffer(kernel, "atoms").align_bytes == 16);
  CHECK(buffer(kernel, "sums").input);
  CHECK(buffer(kernel, "sums").output);
  CHECK(buffer(kernel, "sums").fill == spec::Fill::Zeros);
  CHECK(has_note(made, Note::Kind::LeftOut, "'atoms'", "there is no file 'atoms.bin' beside this one: random numbers stand there"));
  CHECK(has_note(made, Note::Kind::LeftOut, "'steps'", "attune takes no data from \"Generator\" (\"i % 7\"): random numbers stand there"));
  CHECK(has_note(made, Note::Kind::LeftOut, "the expected result of 'sums'", "there is no file 'sums.bin' beside this one"));
  CHECK(has_note(made, Note::Kind::Decide, "\"reference\"", "it is \"none\""));
  CHECK(has_note(made, Note::Kind::LeftOut, "\"Budget\"", "--budget 60s"));
  CHECK(has_note(made, Note::Kind::Changed, "GROUP % UNROLL == 0", "taken for satisfied, as Kernel Tuner does"));
  CHECK(geometry(kernel, R"({"GROUP":96,"UNROLL":2,"SOA":true})").grid[0] == 20);
}

TEST_CASE_FIXTURE(Dialects, "arguments that agree with their kernels are told nothing about") {
  for (const std::string& text : {attune::test::kSchemaT1, attune::test::kKernelTunerT1, attune::test::kKttT1, attune::test::kBatT1}) {
    const auto made = import(text);
    CAPTURE(made.kernel.kernel);
    CHECK_FALSE(has_note(made, Note::Kind::Decide, "the argument", "the kernel takes"));
    CHECK_FALSE(has_note(made, Note::Kind::Decide, "the parameter", "defines it anew"));
  }
}

TEST_CASE_FIXTURE(Dialects, "a parameter that no source names is of the launch where that depends on it, and is told where nothing does") {
  write("launch.cu", "// idle\nextern \"C\" __global__ void launch(float* out) { out[blockIdx.x * blockDim.x + threadIdx.x] = 1; }\n");
  const auto made = import(R"({"ConfigurationSpace": {"TuningParameters": [
      {"Name": "threads", "Type": "int", "Values": "[32, 64]"}, {"Name": "idle", "Type": "int", "Values": "[1, 2]"}]},
    "KernelSpecification": {"Language": "CUDA", "KernelName": "launch", "KernelFile": "launch.cu", "GlobalSizeType": "CUDA",
      "GlobalSize": {"X": "64 // threads"}, "LocalSize": {"X": "threads", "W": 2},
      "Arguments": [{"Name": "out", "Type": "float", "Size": 64, "MemoryType": "Vector", "AccessType": "WriteOnly"}]}})");
  const auto kernel = parsed(made);
  CHECK(kernel.parameters[0].binding == spec::Binding::Launch);
  CHECK(kernel.parameters[1].binding == spec::Binding::Source);
  CHECK(has_note(made, Note::Kind::Changed, "the parameter 'threads'", "of the launch alone"));
  CHECK(has_note(made, Note::Kind::Decide, "the parameter 'idle'", "its values make the same kernel, and are measured apart all the same"));
  CHECK(has_note(made, Note::Kind::LeftOut, "\"W\"", "\"LocalSize\" says there"));
  CHECK(space_size(made) == 4);
  CHECK(different_launches(kernel) == 4);
  auto remedied = made;
  std::string& text = remedied.files.at("template.json");
  text = replaced(text, R"("idle": {"values": [1, 2], "default": 1})", R"("idle": {"values": [1, 2], "default": 1, "bind": "launch"})");
  CHECK(different_launches(parsed(remedied)) == 2);
}

TEST_CASE_FIXTURE(Dialects, "a parameter that only what stands before the source names stays a macro") {
  write("launch.cu", "extern \"C\" __global__ void launch(float* out) { out[blockIdx.x * block_size_x + threadIdx.x] = 1; }\n");
  const auto made = import(R"({"ConfigurationSpace": {"TuningParameters": [{"Name": "threads", "Type": "int", "Values": "[32, 64]"}]},
    "KernelSpecification": {"Language": "CUDA", "KernelName": "launch", "KernelFile": "launch.cu", "ProblemSize": [64],
      "GridDivX": ["threads"], "LocalSize": {"X": "threads"},
      "Arguments": [{"Name": "out", "Type": "float", "Size": 64, "MemoryType": "Vector", "AccessType": "WriteOnly"}]}})");
  CHECK(contains(made.files.at("attune_before.cu"), "#define block_size_x threads"));
  CHECK(parsed(made).parameters[0].binding == spec::Binding::Source);
}

TEST_CASE_FIXTURE(Dialects, "what an argument says beside what a template has is told as left out, with the argument") {
  const auto made = import(replaced(attune::test::kBatT1, R"("Name": "a", )", R"("Name": "a", "RandomSeed": 7, "Pinned": true, )"));
  CHECK(has_note(made, Note::Kind::LeftOut, "\"RandomSeed\", \"Pinned\"", "the argument 'a'"));
}

TEST_CASE_FIXTURE(Dialects, "BAT's numbers of threads become blocks, words become macros, and numbers by parameters are computed") {
  const auto made = import(attune::test::kBatT1);
  const auto kernel = parsed(made);
  const auto found = geometry(kernel, R"({"BLOCK":96,"ITEMS":4,"OP":"plus","MAX_THREADS":256})");
  CHECK(found.grid[0] == 43);  // 16384 / 4 = 4096 threads, 42.67 blocks of 96
  CHECK(found.block[0] == 96);
  CHECK(contains(made.files.at("attune_before.cu"), "#if OP_PLUS\n#define OP plus\n#elif OP_TIMES\n#define OP times\n#endif\n"));
  CHECK(made.files.at("operators.cuh") == attune::test::kBatHeader);
  CHECK(arguments(kernel) == "a b out n step ");
  CHECK(buffer(kernel, "out").input);
  CHECK(buffer(kernel, "out").output);
  CHECK(buffer(kernel, "b").fill == spec::Fill::Ones);
  CHECK(has_note(made, Note::Kind::Changed, "'a'", "not up to 324"));
  CHECK(has_note(made, Note::Kind::LeftOut, "\"BenchmarkConfig\"", "nothing in a template says"));
  CHECK(has_note(made, Note::Kind::LeftOut, "\"Misc\"", "nothing in a template says"));
  CHECK(has_note(made, Note::Kind::LeftOut, "\"Budget\"", "--budget 200"));
  REQUIRE(std::get<spec::LaunchSpec>(kernel.steps.front()).shared_bytes);
  CHECK(std::get<spec::LaunchSpec>(kernel.steps.front()).shared_bytes->text() == "4 * BLOCK");
}

TEST_CASE_FIXTURE(Dialects, "what somebody has to decide stands in comments at the head of template.json") {
  const std::string text = import(attune::test::kKttT1).files.at("template.json");
  CHECK(text.rfind("// Imported from t1.json by `attune template import`", 0) == 0);
  CHECK(contains(text, "\n// TO DECIDE: \"reference\": it is \"none\""));
  CHECK(contains(text, "\n// TO DECIDE: \"problem\": the file describes one problem"));
  CHECK(contains(text, "\n    \"GROUP\": {\"values\": [32, 64, 96], \"default\": 32},\n"));
}

TEST_CASE_FIXTURE(Dialects, "the template is called as the caller says, as the file says, or as the kernel") {
  CHECK(parsed(import(attune::test::kSchemaT1)).name == "scale");
  CHECK(parsed(import(attune::test::kBatT1)).name == "combine");
  CHECK(parsed(import(attune::test::kBatT1, "mine")).name == "mine");
}

TEST_CASE_FIXTURE(Dialects, "problem sizes are a number, a list, a list in a text, and expressions over parameters") {
  const auto axes = [&](const std::string& sizes) {
    std::string text;
    const auto made = import(replaced(replaced(attune::test::kSchemaT1, R"x("GlobalSize": {"X": "4096 // (bx * tile)"},)x", ""),
                                      "\"Language\"", "\"ProblemSize\": " + sizes + R"(, "GridDivX": ["bx", "tile"], "Language")"));
    const auto kernel = parsed(made);
    for (const auto& axis : kernel.problem) text += axis.name + "=" + std::to_string(axis.min) + " ";
    return text + std::to_string(geometry(kernel, R"({"bx":64,"tile":2})").grid[0]);
  };
  CHECK(axes("4096") == "problem_size=4096 32");
  CHECK(axes("\"2 ** 12\"") == "problem_size=4096 32");
  CHECK(axes("[4096]") == "problem_size_x=4096 32");
  CHECK(axes("\"(4096, 2)\"") == "problem_size_x=4096 problem_size_y=2 32");
  CHECK(axes("{\"X\": 4096, \"Y\": 3}") == "problem_size_x=4096 problem_size_y=3 32");
  CHECK(axes("\"64 * bx\"") == "problem_size_1=4096 32");
}

TEST_CASE_FIXTURE(Dialects, "local memory is dynamic shared memory, and a symbol is a constant variable; neither is an argument") {
  write("scale.cu", "__constant__ float table[8];\nextern \"C\" __global__ void scale(const float* in, float* out, float factor) {}");
  const auto made = import(replaced(attune::test::kSchemaT1, R"({"Name": "factor")",
                                    R"({"Name": "scratch", "Type": "double", "MemoryType": "Local", "Size": "bx + 1"},
      {"Name": "table", "Type": "float", "MemoryType": "Symbol", "AccessType": "ReadOnly", "Size": 8},
      {"Name": "factor")"));
  const auto kernel = parsed(made);
  CHECK(arguments(kernel) == "in out factor ");
  CHECK(buffer(kernel, "table").memory == spec::Memory::Constant);
  CHECK(std::get<spec::LaunchSpec>(kernel.steps.front()).shared_bytes->text() == "(bx + 1) * 8");
}

TEST_CASE_FIXTURE(Dialects, "names that a template cannot have are changed and told, those of parameters too where arguments share them") {
  const auto made = import(replaced(replaced(attune::test::kSchemaT1, "\"Name\": \"factor\"", "\"Name\": \"tile\""), "\"Name\": \"out\"",
                                    "\"Name\": \"my out\""));
  CHECK(arguments(parsed(made)) == "in my_out tile_1 ");
  CHECK(has_note(made, Note::Kind::Changed, "'my out'", "called 'my_out' in the template"));
  CHECK(has_note(made, Note::Kind::Changed, "'tile'", "called 'tile_1' in the template"));
}

}  // namespace test_imported_template
