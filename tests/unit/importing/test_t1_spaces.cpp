#include <doctest/doctest.h>

#include <algorithm>

#include "tests/unit/importing/import_fixture.hpp"

namespace test_t1_spaces {

using namespace attune;
using namespace attune::importing;
using namespace attune::importing::test;

TEST_CASE_FIXTURE(Dialects, "the space of a file of the schema has exactly what its conditions leave") {
  std::uint64_t count = 0;
  for (const int bx : {32, 64, 128})
    for (const int tile : {1, 2, 4}) count += bx * tile <= 256 ? 1 : 0;
  CHECK(count == 8);
  CHECK(space_size(import(attune::test::kSchemaT1)) == count);
}

TEST_CASE_FIXTURE(Dialects, "the space of a file of Kernel Tuner has exactly what its conditions leave") {
  std::uint64_t count = 0;
  for (const int bx : {16, 32, 64})
    for (const int by : {1, 2, 4, 8})
      for (const int tile : {1, 2, 3})
        for (const int padding : {0, 1}) {
          const bool threads = bx * by >= 32 && bx * by <= 256;
          const bool listed = bx * tile == 32 || bx * tile == 64 || bx * tile == 96 || bx * tile == 128;
          const bool padded = padding == 0 || (bx % 32 != 0 && by >= 4);
          count += threads && listed && padded && std::max(tile, padding) < 3 ? 1 : 0;
        }
  CHECK(count > 0);
  CHECK(space_size(import(attune::test::kKernelTunerT1)) == count);
}

TEST_CASE_FIXTURE(Dialects, "the space of a file of KTT has exactly what its conditions leave, a division by zero counting as satisfied") {
  std::uint64_t count = 0;
  for (const int group : {32, 64, 96})
    for (const int unroll : {0, 1, 2, 4, 5})
      for (const bool soa : {false, true}) {
        const bool divides = unroll == 0 || group % unroll == 0;
        count += divides && (!soa || unroll == 0 || unroll == 2 || unroll == 4) ? 1 : 0;
      }
  CHECK(count == 21);  // each group: unroll 0, 2 and 4 with and without soa, 1 without
  CHECK(space_size(import(attune::test::kKttT1)) == count);
}

TEST_CASE_FIXTURE(Dialects, "the space of a file of BAT has exactly what its conditions leave") {
  std::uint64_t count = 0;
  for (const int block : {1, 2, 4, 8, 16, 32, 64, 96, 128})
    for (const int items : {1, 2, 4, 8})
      for (const bool plus : {true, false}) count += block * items >= 32 && 2 * block <= 256 && (plus || block * items % 3 != 0) ? 1 : 0;
  CHECK(count > 0);
  CHECK(space_size(import(attune::test::kBatT1)) == count);
}

TEST_CASE_FIXTURE(Dialects, "conditions count wherever a file has them: in the space, at the top, beside the kernel") {
  const std::string space = R"("Conditions": [
      {"Expression": "bx * tile <= 256", "Parameters": ["bx", "tile"]}
    ]
  },)";
  const std::string elsewhere = replaced(attune::test::kSchemaT1, space, R"("Other": 1}, "Conditions": ["bx * tile <= 256"],)");
  CHECK(space_size(import(elsewhere)) == 8);
  const std::string beside = replaced(attune::test::kSchemaT1, "\"Language\"", R"("Conditions": ["tile < 4"], "Language")");
  CHECK(space_size(import(beside)) == 6);
}

TEST_CASE_FIXTURE(Dialects, "a default that is no value is told, and the first value stands in") {
  const auto made = import(attune::test::kBatT1);
  CHECK(has_note(made, Note::Kind::Decide, "'BLOCK'", "its default 256 is none of its values: the first, 1, is the default"));
  const auto kernel = parsed(made);
  CHECK(kernel.parameters[0].default_index == 0);
  CHECK(spec::to_text(kernel.parameters[2].values[kernel.parameters[2].default_index]) == "times");
}

TEST_CASE_FIXTURE(Dialects, "values are lists, ranges, sums of lists and comprehensions, and what is there twice counts once") {
  const auto values_of = [&](const std::string& values) {
    const auto made = import(replaced(attune::test::kSchemaT1, "\"Values\": [1, 2, 4]", "\"Values\": " + values));
    const auto kernel = parsed(made);
    std::string text;
    for (const auto& value : kernel.parameters[1].values) text += spec::to_text(value) + " ";
    return text;
  };
  CHECK(values_of("[1, 2, 4]") == "1 2 4 ");
  CHECK(values_of("\"range(1, 5)\"") == "1 2 3 4 ");
  CHECK(values_of("\"list(range(1, 9, 2))\"") == "1 3 5 7 ");
  CHECK(values_of("\"[2**x for x in range(0, 4)]\"") == "1 2 4 8 ");
  CHECK(values_of("\"[1] + [2*i for i in range(1, 3)]\"") == "1 2 4 ");
  CHECK(values_of("\"(1, 2)\"") == "1 2 ");
  CHECK(values_of("[2, 1, 2]") == "2 1 ");
}

TEST_CASE_FIXTURE(Dialects, "a division by zero counts as satisfied also where the values are too many to try them all") {
  std::string text = replaced(attune::test::kSchemaT1, "\"Values\": \"[32, 64, 128]\"", "\"Values\": \"range(0, 700)\"");
  text = replaced(text, "\"Values\": [1, 2, 4]", "\"Values\": \"range(0, 600)\"");
  text = replaced(text, "bx * tile <= 256", "bx % tile == 0");
  std::uint64_t count = 0;
  for (int bx = 0; bx < 700; ++bx)
    for (int tile = 0; tile < 600; ++tile) count += tile == 0 || bx % tile == 0 ? 1 : 0;
  CHECK(space_size(import(text)) == count);
  std::string own = replaced(text, "bx % tile == 0", "tile != 0 and bx % tile == 0");  // this one says itself what holds there
  CHECK(space_size(import(own)) == count - 700);
}

namespace {

/// A T1 file of a kernel of one argument, as BAT writes them. `parameters`: names and values in Python; conditions likewise.
std::string bat_file(const std::vector<std::pair<std::string, std::string>>& parameters, const std::vector<std::string>& conditions,
                     const std::string& launch) {
  std::string listed, held;
  for (const auto& [name, values] : parameters)
    listed += (listed.empty() ? "" : ",\n") + std::string(R"({"Name": ")") + name + R"(", "Type": "int", "Values": ")" + values + "\"}";
  for (const auto& condition : conditions) held += (held.empty() ? "" : ",\n") + std::string(R"({"Expression": ")") + condition + "\"}";
  return R"({"ConfigurationSpace": {"TuningParameters": [)" + listed + R"(], "Conditions": [)" + held +
         R"(]}, "KernelSpecification": {"Language": "CUDA", "KernelName": "nothing", "KernelFile": "nothing.cu", "GlobalSizeType": "CUDA", )" +
         launch + R"(, "Arguments": [{"Name": "out", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly", "Size": 1}]}})";
}

}  // namespace

TEST_CASE_FIXTURE(T1Folder, "the spaces of GEMM and convolution that are published for BAT have the published counts") {
  write("nothing.cu", "extern \"C\" __global__ void nothing(float* out) {}\n");
  const auto gemm = bat_file({{"MWG", "[16, 32, 64, 128]"},
                              {"NWG", "[16, 32, 64, 128]"},
                              {"KWG", "[16, 32]"},
                              {"MDIMC", "[8, 16, 32]"},
                              {"NDIMC", "[8, 16, 32]"},
                              {"MDIMA", "[8, 16, 32]"},
                              {"NDIMB", "[8, 16, 32]"},
                              {"KWI", "[2, 8]"},
                              {"SA", "[0, 1]"},
                              {"SB", "[0, 1]"}},
                             {"(KWG % KWI) == 0", "(MWG % MDIMC) == 0", "(NWG % NDIMC) == 0", "(MWG % MDIMA) == 0", "(NWG % NDIMB) == 0",
                              "(KWG % ((MDIMC * NDIMC) // MDIMA)) == 0", "(KWG % ((MDIMC * NDIMC) // NDIMB)) == 0"},
                             R"("LocalSize": {"X": "MDIMC", "Y": "NDIMC"}, "GlobalSize": {"X": "4096 // MWG", "Y": "4096 // NWG"})");
  CHECK(space_size(import(gemm)) == 10312);
  const auto convolution = bat_file(
      {{"block_size_x", "[1, 2, 4, 8, 16, 32, 48, 64, 96, 112, 128]"},
       {"block_size_y", "[1, 2, 4, 8, 16, 32]"},
       {"tile_size_x", "list(range(1, 9))"},
       {"tile_size_y", "list(range(1, 9))"},
       {"use_padding", "[0, 1]"},
       {"read_only", "[0, 1]"}},
      {"(block_size_x * block_size_y) >= 64", "(block_size_x * block_size_y) <= 1024", "(tile_size_x * tile_size_y) < 30"},
      R"("LocalSize": {"X": "block_size_x", "Y": "block_size_y"}, "ProblemSize": [4096, 4096], "GridDivX": ["block_size_x", "tile_size_x"], "GridDivY": ["block_size_y", "tile_size_y"])");
  CHECK(space_size(import(convolution)) == 6768);
}

TEST_CASE_FIXTURE(Dialects, "without a default it is the first values that satisfy the conditions and that a device can launch") {
  const auto default_of = [](const ImportedTemplate& made) {
    const auto kernel = parsed(made);
    return spec::to_text(kernel, spec::default_configuration(kernel));
  };
  const std::string file = replaced(attune::test::kSchemaT1, R"(, "Default": 64)", "");
  CHECK(default_of(import(file)) == R"({"bx":32,"tile":1})");
  CHECK(has_note(import(file), Note::Kind::Decide, "\"Default\"", "2 parameters without one: the first value is the default"));

  const auto forbidden = import(replaced(file, "\"[32, 64, 128]\"", "\"[512, 64, 128]\""));
  CHECK(default_of(forbidden) == R"({"bx":64,"tile":1})");
  CHECK(has_note(forbidden, Note::Kind::Decide, "\"Default\"",
                 "2 parameters without one: the first values violate \"bx * tile <= 256\"; the default has bx=64 instead"));

  const std::string shared = R"("LocalSize": {"X": "bx"}, "SharedMemory": "bx * 4096",)";
  const auto large = import(replaced(replaced(file, "\"[32, 64, 128]\"", "\"[128, 64, 32]\""), R"("LocalSize": {"X": "bx"},)", shared));
  CHECK(default_of(large) == R"({"bx":32,"tile":1})");
  CHECK(has_note(large, Note::Kind::Decide, "\"Default\"", "cannot be launched: 524288 bytes of shared memory exceed the device's limit"));

  // Neither parameter alone makes it smaller than 4096 threads in a block, and a stated default stays.
  const std::string both = replaced(replaced(file, "\"[32, 64, 128]\"", "\"[2048, 32]\""), "[1, 2, 4]", "[16, 8]");
  CHECK(default_of(import(replaced(both, "bx * tile <= 256", "bx * tile <= 300 and tile < 10"))) == R"({"bx":32,"tile":8})");
  CHECK(default_of(import(replaced(attune::test::kSchemaT1, R"("Values": "[32, 64, 128]", "Default": 64)",
                                   R"("Values": "[512, 64, 128]", "Default": 512)"))) == R"({"bx":512,"tile":1})");
}

}  // namespace test_t1_spaces
