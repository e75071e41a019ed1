// What arrays of a T1 file are filled with.
#include <doctest/doctest.h>

#include <numeric>

#include "tests/support/npy.hpp"
#include "tests/unit/importing/import_fixture.hpp"

namespace test_t1_data {

using namespace attune;
using namespace attune::importing;
using namespace attune::importing::test;
using attune::test::npy_of;
using attune::test::raw_bytes;

namespace {

constexpr std::size_t kElements = 4096;  ///< of the file of the schema

std::vector<float> numbers(std::size_t count = kElements) {
  std::vector<float> all(count);
  std::iota(all.begin(), all.end(), 0.5F);
  return all;
}

const spec::BufferSpec& in_of(const spec::KernelTemplate& kernel) {
  for (const auto& buffer : kernel.buffers)
    if (buffer.name == "in") return buffer;
  throw std::runtime_error("the template has no buffer 'in'");
}

/// The file of the schema with something else for how its input is filled.
struct Filled : Dialects {
  [[nodiscard]] ImportedTemplate filled(const std::string& fill, const std::string& type = "float") const {
    const std::string text = replaced(attune::test::kSchemaT1, R"("FillType": "Random", "FillValue": 1.0)", fill);
    return import(replaced(text, R"("in", "Type": "float")", R"("in", "Type": ")" + type + '"'));
  }
  [[nodiscard]] ImportedTemplate from(const std::string& source, const std::string& type = "float") const {
    return filled(R"("FillType": "BinaryRaw", "DataSource": ")" + source + '"', type);
  }
  /// Random numbers stand there, nothing is copied, and the reason is told.
  void leaves_out(const ImportedTemplate& made, const std::string& why) const {
    CAPTURE(why);
    CHECK(has_note(made, Note::Kind::LeftOut, "the argument 'in'", why));
    CHECK(made.kernel.data.empty());
    const auto kernel = parsed(made);
    CHECK_FALSE(in_of(kernel).data);
    CHECK(in_of(kernel).fill == spec::Fill::Uniform);
  }
};

}  // namespace

TEST_CASE_FIXTURE(Filled, "an array of one number is filled with it") {
  const auto made = filled(R"("FillType": "Constant", "FillValue": -2.5)");
  CHECK(contains(made.files.at("template.json"), R"("fill": {"value": -2.5})"));
  CHECK(has_note(made, Note::Kind::Taken, "the argument 'in'", "filled with -2.5"));
  const auto kernel = parsed(made);
  CHECK(in_of(kernel).fill == spec::Fill::Constant);
  REQUIRE(in_of(kernel).fill_bounds.size() == 1);
  CHECK(in_of(kernel).fill_bounds[0].text() == "-2.5");
  CHECK(in_of(parsed(filled(R"("FillType": "Constant", "FillValue": 7)", "int32"))).fill == spec::Fill::Constant);
}

TEST_CASE_FIXTURE(Filled, "zeros and ones keep their words, whatever the file writes for them") {
  for (const char* const zero : {"0", "0.0", "false", "\"0\""})
    CHECK(in_of(parsed(filled(std::string(R"("FillType": "Constant", "FillValue": )") + zero))).fill == spec::Fill::Zeros);
  for (const char* const one : {"1", "1.0", "true"})
    CHECK(in_of(parsed(filled(std::string(R"("FillType": "Constant", "FillValue": )") + one))).fill == spec::Fill::Ones);
}

TEST_CASE_FIXTURE(Filled, "a number that the type does not hold is told as left out, and so is what is no number") {
  leaves_out(filled(R"("FillType": "Constant", "FillValue": 2.5)", "int32"), "2.5 is no i32: random numbers stand there");
  leaves_out(filled(R"("FillType": "Constant", "FillValue": 300)", "uint8"), "300 is no u8");
  leaves_out(filled(R"("FillType": "Constant", "FillValue": "many")"), "its \"FillValue\" is no number");
  leaves_out(filled(R"("FillType": "Constant")"), "its \"FillValue\" is no number");
}

TEST_CASE_FIXTURE(Filled, "a generator of the elements' places is the fill of that, and other generators are left out") {
  for (const char* const source : {"i", " i "}) {
    const auto made = filled(std::string(R"("FillType": "Generator", "DataSource": ")") + source + '"');
    CHECK(contains(made.files.at("template.json"), R"("fill": "index")"));
    CHECK(has_note(made, Note::Kind::Taken, "the argument 'in'", "filled with 0, 1, 2, ..."));
    CHECK(in_of(parsed(made)).fill == spec::Fill::Index);
  }
  CHECK(in_of(parsed(filled(R"("FillType": "Generator", "DataSource": "i")", "int16"))).fill == spec::Fill::Index);
  leaves_out(filled(R"("FillType": "Generator", "DataSource": "i + 1")"),
             "attune takes no data from \"Generator\" (\"i + 1\"): random numbers");
  leaves_out(filled(R"("FillType": "Generator", "DataSource": "ii")"), "attune takes no data from \"Generator\" (\"ii\")");
  leaves_out(filled(R"("FillType": "Generator")"), "attune takes no data from \"Generator\": random numbers");
  leaves_out(filled(R"("FillType": "Generator", "DataSource": "i")", "half"),
             "f16 has every whole number up to 2048 alone, and 0, 1, 2, ... go up to 4095: random numbers");
  leaves_out(filled(R"("FillType": "Generator", "DataSource": "i")", "float4"),
             "its elements are float4, and 0, 1, 2, ... are single numbers");
}

TEST_CASE_FIXTURE(Filled, "an array in a file of numpy's beside the T1 file fills its argument") {
  write("data/in.npy", npy_of<float>("<f4", "(64, 64)", numbers()));
  const auto made = from("data/in.npy");
  CHECK(contains(made.files.at("template.json"), R"("fill": {"file": "data/in.npy"})"));
  CHECK(has_note(made, Note::Kind::Taken, "the argument 'in'", "filled from 'data/in.npy', 4096 elements of f32"));
  REQUIRE(made.kernel.data.size() == 1);
  CHECK(std::filesystem::equivalent(made.kernel.data.at("data/in.npy").from, folder / "data/in.npy"));
  CHECK_FALSE(made.files.contains("data/in.npy"));
  const auto kernel = parsed(made);
  REQUIRE(in_of(kernel).data);
  CHECK(in_of(kernel).data->file == "data/in.npy");
}

TEST_CASE_FIXTURE(Filled, "raw elements fill an argument of as many bytes, of whatever type") {
  write("in.bin", raw_bytes(numbers()));
  CHECK(in_of(parsed(from("in.bin"))).data->file == "in.bin");
  CHECK(in_of(parsed(from("./in.bin", "int32"))).data->file == "in.bin");
  leaves_out(from("in.bin", "double"), "'in.bin' holds 16384 bytes, and the argument is 4096 elements of f64: random numbers stand there");
}

TEST_CASE_FIXTURE(Filled, "the elements of a vector type count each by itself") {
  write("in.bin", raw_bytes(numbers(4 * kElements)));
  CHECK(in_of(parsed(from("in.bin", "float4"))).data->file == "in.bin");
  leaves_out(from("in.bin", "float2"), "the argument is 8192 elements of f32");
}

TEST_CASE_FIXTURE(Filled, "integers of the same size are taken for each other, floats are not") {
  write("in.npy", npy_of<std::int32_t>("<i4", "(4096,)", std::vector<std::int32_t>(kElements, 3)));
  CHECK(in_of(parsed(from("in.npy", "uint32"))).data->file == "in.npy");
  leaves_out(from("in.npy"), "'in.npy' holds 4096 elements of i32, and the argument is 4096 elements of f32");
  leaves_out(from("in.npy", "int64"), "4096 elements of i64");
}

TEST_CASE_FIXTURE(Filled, "truth values of numpy's are bytes") {
  write("in.npy", npy_of<std::int8_t>("|b1", "(4096,)", std::vector<std::int8_t>(kElements, 1)));
  CHECK(in_of(parsed(from("in.npy", "bool"))).data->file == "in.npy");
}

TEST_CASE_FIXTURE(Filled, "a file that is not there, or that nobody can read as this array, is told as left out with the reason") {
  leaves_out(from("none.npy"), "there is no file 'none.npy' beside this one: random numbers stand there");
  leaves_out(filled(R"("FillType": "BinaryRaw")"), "its contents are in no file: random numbers stand there");
  write("short.npy", npy_of<float>("<f4", "(64,)", numbers(64)));
  leaves_out(from("short.npy"), "'short.npy' holds 64 elements of f32, and the argument is 4096 elements of f32");
  write("turned.npy", npy_of<float>(">f4", "(4096,)", numbers()));
  leaves_out(from("turned.npy"), "'turned.npy' is not taken: its elements of type '>f4' stand in another byte order");
  write("cut.npy", npy_of<float>("<f4", "(4096,)", numbers(100)));
  leaves_out(from("cut.npy"), "'cut.npy' is not taken: its header says 16384 bytes of elements");
}

TEST_CASE_FIXTURE(Filled, "files outside the T1 file's folder, and names that mean something else there, are left out") {
  const std::string outside = folder.path().filename().string() + ".bin";
  std::ofstream(folder / ".." / outside, std::ios::binary) << raw_bytes(numbers());
  leaves_out(from("../" + outside), "'../" + outside + "' is no path inside this file's folder");
  leaves_out(from((folder.path().parent_path() / outside).string()), "is no path inside this file's folder");
  std::filesystem::remove(folder / ".." / outside);
  for (const char* const name : {"template.json", "defaults.json", "ladder.json"}) {
    write(name, raw_bytes(numbers()));
    leaves_out(from(name), "is a name that templates have for something else");
  }
}

TEST_CASE_FIXTURE(Filled, "a source of the kernel fills no argument") {
  std::string source = attune::test::kSchemaSource;
  source.resize(kElements * sizeof(float), ' ');
  write("scale.cu", source);
  try {
    static_cast<void>(from("scale.cu"));
    FAIL("took the source for data");
  } catch (const SpecError& error) {
    CHECK(contains(error.what(), "t1.json: it fills an argument from 'scale.cu', which is a source of the kernel; name a file of data"));
  }
}

TEST_CASE_FIXTURE(Filled, "indices from a file stay as they are, where others would become zeros") {
  write("gather.cu",
        "extern \"C\" __global__ void gather(const int* in, const float* from, float* out) {\n"
        "  const int i = blockIdx.x * bx * tile + threadIdx.x;\n  out[i] = from[in[i]];\n}\n");
  write("in.npy", npy_of<std::int32_t>("<i4", "(4096,)", std::vector<std::int32_t>(kElements, 3)));
  const auto gathered = [&](const std::string& fill) {
    std::string text = replaced(attune::test::kSchemaT1, R"("FillType": "Random", "FillValue": 1.0)", fill);
    text = replaced(text, R"("in", "Type": "float")", R"("in", "Type": "int32")");
    text = replaced(text, "\"scale.cu\"", "\"gather.cu\"");
    text = replaced(text, "\"scale\"", "\"gather\"");
    return import(replaced(text, R"({"Name": "factor", "Type": "float", "MemoryType": "Scalar", "FillValue": 2.5})",
                           R"({"Name": "unused", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly", "Size": 4096})"));
  };
  CHECK(in_of(parsed(gathered(R"("FillType": "Random", "FillValue": 1)"))).fill == spec::Fill::Zeros);
  const auto kernel = parsed(gathered(R"("FillType": "BinaryRaw", "DataSource": "in.npy")"));
  CHECK(in_of(kernel).data);
  CHECK(in_of(kernel).fill == spec::Fill::Uniform);
}

TEST_CASE_FIXTURE(Filled, "random numbers stay random where nothing is compared, though the file has some") {
  write("in.npy", npy_of<float>("<f4", "(4096,)", numbers()));
  const auto made = filled(R"("FillType": "Random", "DataSource": "in.npy")");
  CHECK(made.kernel.data.empty());
  CHECK_FALSE(in_of(parsed(made)).data);
}

}  // namespace test_t1_data
