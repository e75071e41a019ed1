// What a T1 file itself says that results are compared with: files of them, or a kernel.
#include <doctest/doctest.h>

#include <numeric>

#include "tests/support/npy.hpp"
#include "tests/unit/importing/import_fixture.hpp"

namespace test_t1_references {

using namespace attune;
using namespace attune::importing;
using namespace attune::importing::test;

namespace {

std::vector<float> counted_up(std::size_t count = 4096) {
  std::vector<float> all(count);
  std::iota(all.begin(), all.end(), 0.5F);
  return all;
}

/// The file of the schema with known inputs, the files beside it, and a plain kernel in its source.
struct References : Dialects {
  References() {
    write("out.bin", attune::test::raw_bytes(counted_up()));
    write("in.bin", attune::test::raw_bytes(counted_up()));
    write("scale.cu", attune::test::kSchemaSource + R"(extern "C" __global__ void plain(const float* in, float* out, float factor) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = factor * in[blockIdx.x * blockDim.x + threadIdx.x];
}
extern "C" __global__ void tiled(const float* in, float* out, float factor) { out[blockIdx.x * bx + threadIdx.x] = factor * in[0]; }
extern "C" __global__ void turned(float* out, const float* in, float factor) { out[blockIdx.x * 256 + threadIdx.x] = factor * in[0]; }
extern "C" __global__ void two(float* out, const float* in) { out[blockIdx.x * 256 + threadIdx.x] = in[0]; }
extern "C" __global__ void whole(const int* in, float* out, float factor) { out[0] = in[0]; }
template <class T> __global__ void typed(const T* in, T* out, T factor) { out[blockIdx.x * 256 + threadIdx.x] = factor * in[0]; }
static __global__ void hidden(const float* in, float* out, float factor) { out[0] = factor * in[0]; }
)");
  }
  /// With members beside the kernel, and the input filled by these.
  [[nodiscard]] ImportedTemplate with(const std::string& members,
                                      const std::string& fill = R"("FillType": "BinaryRaw", "DataSource": "in.bin")",
                                      const std::string& type = "float") const {
    std::string text = replaced(attune::test::kSchemaT1, R"("FillType": "Random", "FillValue": 1.0)", fill);
    text = replaced(text, R"("out", "Type": "float")", R"("out", "Type": ")" + type + '"');
    return import(replaced(text, R"("GlobalSizeType": "CUDA",)", R"("GlobalSizeType": "CUDA", )" + members + ","));
  }
  [[nodiscard]] ImportedTemplate expects(const std::string& how, const std::string& fill = R"("FillType": "Constant", "FillValue": 1)",
                                         const std::string& type = "float") const {
    return with(R"("ReferenceArguments": [{"Name": "right", "TargetName": "out", )" + how + "}]", fill, type);
  }
  [[nodiscard]] ImportedTemplate launched(const std::string& kernel,
                                          const std::string& how = R"("GlobalSize": {"X": 16}, "LocalSize": {"X": "256"})") const {
    return with(R"("ReferenceKernel": {"KernelName": ")" + kernel + R"(", )" + how + "}");
  }
  /// Nothing is compared, and the line says why.
  static void leaves_out(const ImportedTemplate& made, const std::string& about, const std::string& why) {
    CAPTURE(why);
    CHECK(has_note(made, Note::Kind::LeftOut, about, why));
    CHECK(has_note(made, Note::Kind::Decide, "\"reference\"", "it is \"none\""));
    CHECK_FALSE(spec::has_reference(parsed(made)));
  }
};

constexpr const char* kFile = R"("FillType": "BinaryRaw", "DataSource": "out.bin")";

}  // namespace

TEST_CASE_FIXTURE(References, "a file of expected results is the reference, off by the threshold of the file or KTT's own") {
  const auto made = expects(std::string(kFile) + R"(, "ValidationMethod": "SideBySideComparison", "ValidationThreshold": 0.001)");
  const auto kernel = parsed(made);
  CHECK(kernel.reference.kind == spec::ReferenceSpec::Kind::Files);
  CHECK(kernel.reference.wanted.at("out").file == "out.bin");
  CHECK(kernel.reference.tolerance.relative == 0);
  CHECK(kernel.reference.tolerance.absolute == 0.001);
  CHECK(made.kernel.data.contains("out.bin"));
  CHECK(has_note(made, Note::Kind::Taken, "\"ReferenceArguments\"", "1 output compared with files"));
  CHECK_FALSE(has_note(made, Note::Kind::Decide, "\"reference\"", ""));
  CHECK(parsed(expects(kFile)).reference.tolerance.absolute == 1e-4);
  const auto of_all = with(R"("ValidationThreshold": 0.5, "ReferenceArguments": [{"TargetName": "out", )" + std::string(kFile) + "}]");
  CHECK(parsed(of_all).reference.tolerance.absolute == 0.5);
}

TEST_CASE_FIXTURE(References, "KTT's other ways to compare are said as nearly as a template can, and integers must be the same") {
  const auto ratio = expects(std::string(kFile) + R"(, "ValidationMethod": "SideBySideRelativeComparison", "ValidationThreshold": 0.01)");
  CHECK(parsed(ratio).reference.tolerance.relative == 0.01);
  CHECK(parsed(ratio).reference.tolerance.absolute == 1e-4);
  CHECK(has_note(ratio, Note::Kind::Changed, "the expected result of 'out'", "off by 0.01 relative and 0.0001 absolute at most"));
  const auto sum = expects(std::string(kFile) + R"(, "ValidationMethod": "AbsoluteDifference", "ValidationThreshold": 0.25)");
  CHECK(parsed(sum).reference.tolerance.absolute == 0.25);
  CHECK(has_note(sum, Note::Kind::Changed, "'out'", "each element is off by 0.25 at most, not the sum of all differences"));
  const auto whole = expects(std::string(kFile) + R"(, "ValidationThreshold": 5)", R"("FillType": "Constant", "FillValue": 1)", "int32");
  CHECK(parsed(whole).reference.kind == spec::ReferenceSpec::Kind::Files);
  CHECK(parsed(whole).reference.tolerance.absolute == 0);
}

TEST_CASE_FIXTURE(References, "expected results that are in no file, or hold for data that are in none, are left out with what to do") {
  const std::string about = "the expected result of 'out'";
  leaves_out(expects(R"("FillType": "Generator", "DataSource": "2 * i")"), about, "it is \"Generator\", and a template says it by a file");
  leaves_out(expects(R"("FillType": "Constant", "FillValue": 3)"), about, "name that here with \"FillType\": \"BinaryRaw\"");
  leaves_out(expects(R"("FillType": "BinaryRaw", "DataSource": "gone.bin")"), about, "there is no file 'gone.bin' beside this one");
  leaves_out(expects(kFile, R"("FillType": "Constant", "FillValue": 1)", "double"), about, "the argument is 4096 elements of f64");
  leaves_out(expects(kFile, R"("FillType": "Random", "FillValue": 1)"), "\"ReferenceArguments\"",
             "not all there: 'in' (its contents are in no file); give these \"FillType\": \"BinaryRaw\" and a file");
  leaves_out(with(R"("ReferenceArguments": [{"TargetName": "in", )" + std::string(kFile) + "}]"), "the expected result of 'in'",
             "the kernel does not write it");
  try {
    static_cast<void>(with(R"("ReferenceArguments": [{"TargetName": "oui", )" + std::string(kFile) + "}]"));
    FAIL("took the result of no argument");
  } catch (const SpecError& error) {
    CHECK(contains(error.what(), "there is no argument 'oui'"));
  }
}

TEST_CASE_FIXTURE(References, "a plain kernel of the same file with fixed blocks is the reference") {
  const auto made = launched("plain");
  CHECK(contains(made.files.at("template.json"),
                 R"("launches": [{"kernel": "plain", "grid": 16, "block": 256, "args": ["in", "out", "factor"]}])"));
  const auto kernel = parsed(made);
  CHECK(kernel.reference.kind == spec::ReferenceSpec::Kind::Kernel);
  CHECK(kernel.reference.tolerance.absolute == 1e-4);
  CHECK(has_note(made, Note::Kind::Taken, "the reference 'plain'", "16 blocks of 256 threads"));
  CHECK_FALSE(has_note(made, Note::Kind::Decide, "\"reference\"", ""));
  const auto threads = launched("plain", R"("GlobalSizeType": "OpenCL", "GlobalSize": {"X": 4096}, "LocalSize": {"X": 256})");
  CHECK(contains(threads.files.at("template.json"), R"json("grid": "ceil_div(4096, 256)", "block": 256)json"));
  CHECK(spec::has_reference(parsed(launched("typed<float>"))));
  const auto named = launched("turned", R"("GlobalSize": 16, "LocalSize": 256, "Arguments": ["out", "in", "factor"])");
  CHECK(contains(named.files.at("template.json"), R"("args": ["out", "in", "factor"])"));
  CHECK(spec::has_reference(parsed(launched("two", R"("GlobalSize": 16, "LocalSize": 256, "Arguments": ["out", "in"])"))));
}

TEST_CASE_FIXTURE(References, "a reference that wants parameters is taken where it wants their defaults") {
  const std::string geometry = R"("GlobalSize": {"X": "4096 // bx"}, "LocalSize": {"X": "bx"}, )";
  const auto made = launched("tiled", geometry + R"("Parameters": {"bx": 64})");
  CHECK(spec::has_reference(parsed(made)));
  CHECK(spec::has_reference(parsed(launched("tiled", geometry + R"("Parameters": [{"Name": "bx", "Value": 64}])"))));
  leaves_out(launched("tiled", geometry + R"("Parameters": {"bx": 128})"), "\"ReferenceKernel\"",
             "it wants bx = 128 where the default is 64: make that the \"Default\"");
  leaves_out(launched("tiled", geometry + R"("Parameters": {"by": 1})"), "\"ReferenceKernel\"", "a value for 'by', which is no parameter");
  leaves_out(launched("tiled", geometry + R"("Parameters": {})"), "\"ReferenceKernel\"",
             "how it is launched depends on bx, which is tuned");
  leaves_out(launched("tiled"), "the reference 'tiled'", "it uses bx, which is tuned");
}

TEST_CASE_FIXTURE(References, "a kernel that cannot be the reference is left out with what to do") {
  const std::string about = "\"ReferenceKernel\"";
  leaves_out(launched("plain", R"("KernelFile": "other.cu", "GlobalSize": 16, "LocalSize": 256)"), about,
             "it is in 'other.cu', not in the kernel's file: put that beside template.json and into \"sources\"");
  leaves_out(launched("plain", R"("GlobalSize": 16)"), about, "it lacks \"LocalSize\"");
  leaves_out(launched("plain", R"("GlobalSize": 16, "LocalSize": 256, "SharedMemory": 64)"), about, "dynamic shared memory");
  leaves_out(launched("plain", R"("GlobalSize": 16, "LocalSize": 256, "Arguments": ["inn"])"), about,
             "'inn' is none of the tuned kernel's");
  leaves_out(launched("gone"), "the reference 'gone'", "shows no __global__ function of this name");
  leaves_out(launched("two"), "the reference 'two'", "it takes 2 arguments, and the tuned kernel has 3");
  leaves_out(launched("turned", R"("GlobalSize": 16, "LocalSize": 256, "Arguments": ["factor", "in", "out"])"), "the reference 'turned'",
             "its argument 'factor' is another");
  leaves_out(launched("whole"), "the reference 'whole'", "its argument 'in' is another");
  leaves_out(launched("hidden"), "the reference 'hidden'", "it is static or in an unnamed namespace");
  leaves_out(launched("typed"), "the reference 'typed'", "it is a template, and its name has no arguments");
  leaves_out(with(R"("ReferenceKernel": [{"KernelName": "plain"}, {"KernelName": "plain"}])"), about, "there are several");
}

TEST_CASE_FIXTURE(References, "files of expected results go before a kernel, which is there where they are not") {
  const std::string kernel = R"(, "ReferenceKernel": {"KernelName": "plain", "GlobalSize": 16, "LocalSize": 256})";
  const auto both = with(R"("ReferenceArguments": [{"TargetName": "out", )" + std::string(kFile) + "}]" + kernel);
  CHECK(parsed(both).reference.kind == spec::ReferenceSpec::Kind::Files);
  CHECK(has_note(both, Note::Kind::LeftOut, "\"ReferenceKernel\"", "files of expected results are compared with"));
  const auto second = with(R"("ReferenceArguments": [{"TargetName": "out", "FillType": "Constant", "FillValue": 1}])" + kernel);
  CHECK(parsed(second).reference.kind == spec::ReferenceSpec::Kind::Kernel);
}

TEST_CASE_FIXTURE(References, "what else a file says of comparing is left out with what to do") {
  leaves_out(with(R"("Tolerance": 0.1, "ValidationThreshold": 0.1)"), "\"Tolerance\", \"ValidationThreshold\"",
             "\"reference\" of template.json may name files of expected results, or a plain kernel, with a \"tolerance\"");
}

}  // namespace test_t1_references
