// Expected results of a script, in the block "Import" of its T1 file, become the template's reference.
#include <doctest/doctest.h>

#include <numeric>

#include "tests/support/npy.hpp"
#include "tests/unit/importing/import_fixture.hpp"

namespace test_t1_answers {

using namespace attune;
using namespace attune::importing;
using namespace attune::importing::test;
using attune::test::npy_of;

namespace {

std::vector<float> numbers(std::size_t count = 4096) {
  std::vector<float> all(count);
  std::iota(all.begin(), all.end(), 0.5F);
  return all;
}

const spec::BufferSpec& buffer(const spec::KernelTemplate& kernel, const std::string& name) {
  for (const auto& one : kernel.buffers)
    if (one.name == name) return one;
  throw std::runtime_error("the template has no buffer " + name);
}

/// The file of the schema as import_script.py would write it: its input of random numbers and its output have files.
struct Answers : Dialects {
  Answers() {
    write("args/0.npy", npy_of<float>("<f4", "(4096,)", numbers()));
    write("args/1.npy", npy_of<float>("<f4", "(4096,)", numbers()));
    write("answer/1.npy", npy_of<float>("<f4", "(64, 64)", numbers()));
  }
  /// `answers`: the items of the list; `text`: the file without them.
  [[nodiscard]] ImportedTemplate answered(const std::string& answers, const std::string& text = kept(),
                                          const std::string& more = R"(, "atol": 0.001)") const {
    return import(replaced(text, "\"ConfigurationSpace\"",
                           R"("Import": {"answer": {"given": true, "arguments": [)" + answers + "]}" + more + "}, \"ConfigurationSpace\""));
  }
  /// With the contents of its random numbers.
  static std::string kept() {
    return replaced(attune::test::kSchemaT1, R"("FillType": "Random", "FillValue": 1.0)",
                    R"("FillType": "Random", "DataSource": "args/0.npy")");
  }
  /// With an output that holds random numbers before the call.
  static std::string updated(const std::string& source = R"(, "DataSource": "args/1.npy")") {
    return replaced(kept(), R"("AccessType": "WriteOnly")", R"("AccessType": "ReadWrite", "FillType": "Random")" + source);
  }
  /// The reference is none, and nothing is taken for its sake.
  void compares_nothing(const ImportedTemplate& made) const {
    const auto kernel = parsed(made);
    CHECK_FALSE(spec::has_reference(kernel));
    CHECK(made.kernel.data.empty());
    CHECK_FALSE(buffer(kernel, "in").data);
    CHECK(has_note(made, Note::Kind::Decide, "\"reference\"", "it is \"none\""));
  }
};

constexpr const char* kRight = R"({"Argument": 1, "Name": "out", "File": "answer/1.npy"})";

}  // namespace

TEST_CASE_FIXTURE(Answers, "an output must be what the script says, within Kernel Tuner's relative tolerance and the script's own") {
  const auto made = answered(kRight);
  const auto kernel = parsed(made);
  CHECK(kernel.reference.kind == spec::ReferenceSpec::Kind::Files);
  REQUIRE(kernel.reference.wanted.contains("out"));
  CHECK(kernel.reference.wanted.at("out").file == "answer/1.npy");
  CHECK(kernel.reference.tolerance.relative == 1e-5);
  CHECK(kernel.reference.tolerance.absolute == 1e-3);
  CHECK(has_note(made, Note::Kind::Taken, "\"answer\"", "1 output compared with the script's expected results"));
  CHECK_FALSE(has_note(made, Note::Kind::Decide, "\"reference\"", ""));
  CHECK(made.kernel.data.size() == 2);
  CHECK(made.kernel.data.contains("answer/1.npy"));
}

TEST_CASE_FIXTURE(Answers, "a script that says no tolerance has Kernel Tuner's own") {
  CHECK(parsed(answered(kRight, kept(), "")).reference.tolerance.absolute == 1e-6);
  CHECK(parsed(answered(kRight, kept(), R"(, "atol": null)")).reference.tolerance.absolute == 1e-6);
}

TEST_CASE_FIXTURE(Answers, "random numbers of a kernel with expected results come from their files, those of updated outputs too") {
  const auto only_read = parsed(answered(kRight));
  REQUIRE(buffer(only_read, "in").data);
  CHECK(buffer(only_read, "in").data->file == "args/0.npy");
  CHECK_FALSE(buffer(only_read, "out").data);
  const auto made = answered(kRight, updated());
  const auto both = parsed(made);
  CHECK(buffer(both, "out").input);
  REQUIRE(buffer(both, "out").data);
  CHECK(buffer(both, "out").data->file == "args/1.npy");
  CHECK(has_note(made, Note::Kind::Taken, "the argument 'out'", "filled from 'args/1.npy'"));
}

TEST_CASE_FIXTURE(Answers, "where the data of one argument are not kept, nothing is compared and somebody has to decide") {
  const auto made = answered(kRight, attune::test::kSchemaT1);
  compares_nothing(made);
  CHECK(has_note(made, Note::Kind::Decide, "\"answer\"", "not all there: 'in' (its contents are in no file); import the script anew"));
  CHECK(contains(made.files.at("template.json"), "// TO DECIDE: \"answer\": the script's expected results hold for its own data"));
  const auto both = answered(kRight, updated(""));
  compares_nothing(both);
  CHECK(has_note(both, Note::Kind::Decide, "\"answer\"", "not all there: 'out' (its contents are in no file)"));
  std::filesystem::remove(folder / "args/0.npy");
  const auto gone = answered(kRight);
  compares_nothing(gone);
  CHECK(has_note(gone, Note::Kind::Decide, "\"answer\"", "'in' (there is no file 'args/0.npy' beside this one)"));
}

TEST_CASE_FIXTURE(Answers, "expected results that cannot be an output's are told as left out, each with the reason") {
  write("answer/short.npy", npy_of<float>("<f4", "(64,)", numbers(64)));
  write("answer/wide.npy", npy_of<double>("<f8", "(4096,)", std::vector<double>(4096, 1)));
  const std::pair<const char*, const char*> wrong[] = {
      {R"({"Argument": 1, "Name": "out", "File": "answer/short.npy"})",
       "holds 64 elements of f32, and the argument is 4096 elements of f32"},
      {R"({"Argument": 1, "Name": "out", "File": "answer/wide.npy"})",
       "holds 4096 elements of f64, and the argument is 4096 elements of f32"},
      {R"({"Argument": 1, "Name": "out", "Fill": "random"})", "its contents are in no file; a larger --largest-array keeps them"},
      {R"({"Argument": 1, "Name": "out", "Value": 3})", "it is one number, and the argument an array"},
      {R"({"Argument": 1, "Name": "out", "NotComputed": "run_kernel of \"plain\" is not run here"})",
       R"(run_kernel of "plain" is not run here)"},
      {R"({"Argument": 0, "Name": "in", "File": "args/0.npy"})", "the kernel does not write it"},
      {R"({"Argument": 2, "Name": "factor", "Value": 2.5})", "the kernel does not write it"}};
  for (const auto& [answer, why] : wrong) {
    CAPTURE(answer);
    const auto made = answered(answer);
    CHECK(has_note(made, Note::Kind::LeftOut, "the expected result of '", why));
    CHECK(has_note(made, Note::Kind::LeftOut, "\"answer\"", "none of the script's expected results can be compared with"));
    compares_nothing(made);
    CHECK(parsed(answered(std::string(answer) + ", " + kRight)).reference.wanted.size() == 1);
  }
}

TEST_CASE_FIXTURE(Answers, "a number of an argument that the kernel does not have is refused") {
  for (const char* const place : {"3", "-1"}) {
    try {
      static_cast<void>(answered(std::string(R"({"Argument": )") + place + R"(, "File": "answer/1.npy"})"));
      FAIL("took the answer of no argument");
    } catch (const SpecError& error) {
      CHECK(contains(error.what(), std::string("there is no argument ") + place + "; they are counted from 0"));
    }
  }
}

TEST_CASE_FIXTURE(Answers, "nothing is told of expected results where the script gave none") {
  for (const char* const none :
       {R"("Import": {"answer": {"given": false}}, )", R"("Import": {"answer": null}, )", R"("Import": 1, )", ""}) {
    const auto made = import(replaced(kept(), "\"ConfigurationSpace\"", none + std::string("\"ConfigurationSpace\"")));
    compares_nothing(made);
    CHECK_FALSE(has_note(made, Note::Kind::LeftOut, "\"answer\"", ""));
    CHECK_FALSE(has_note(made, Note::Kind::Decide, "\"answer\"", ""));
  }
}

}  // namespace test_t1_answers
