// Options of a template reach the compiler only when they are among those that may: none that writes a file does.
#include <doctest/doctest.h>

#include <filesystem>

#include "tests/integration/cli_fixture.hpp"

namespace test_template_options {

using namespace attune;
using test::Cli;

namespace {

struct Options : Cli {
  void give(const std::string& options) const {
    std::string text = test::small_template_json();
    text.insert(text.find("\"let\""), "\"options\": [" + options + "], ");
    write("double_it/template.json", text);
  }
  [[nodiscard]] std::string victim() const { return (folder / "victim").string(); }
};

}  // namespace

TEST_CASE_FIXTURE(Options, "an option that writes a file ends with a malformed template, and the file stays as it is") {
  write("victim", "mine");
  for (const std::string option : {"-create-pch=", "--create-pch=", "--create_pch=", "-time=", "--time=", "-fdevice-time-trace=",
                                   "--pch-dir=", "-o=", "--Xptxas=-o="}) {
    for (const bool glued : {true, false}) {
      give(glued ? "\"" + option + victim() + "\"" : "\"" + option.substr(0, option.size() - 1) + "\", \"" + victim() + "\"");
      CAPTURE(option);
      for (const auto& words : {std::vector<std::string>{"template", "check", kernel}, tune_words()}) {
        const auto result = attune(words);
        CAPTURE(result.err);
        CHECK(result.exit_code == 3);
        CHECK(result.err.find("template.json:10:15: the option") != std::string::npos);
        CHECK(read("victim") == "mine");
      }
    }
  }
  CHECK_FALSE(std::filesystem::exists(database));
}

TEST_CASE_FIXTURE(Options, "the options that a template may give are taken by the compiler") {
  give(
      R"("--use_fast_math", "--fmad=false", "--ftz=true", "--prec-sqrt=false", "--prec-div=false", "--extra-device-vectorization", "--restrict",
    "--maxrregcount=64", "--jump-table-density=50", "--Ofast-compile=0", "-Xptxas=-O3", "-Xptxas=-dlcm=ca", "--device-stack-protector=false", "--std=c++20",
    "--device-int128", "--builtin-move-forward=true", "--builtin-initializer-list=true", "--define-macro=X=1", "-DY", "-UY", "-w", "--diag-suppress=177",
    "--brief-diagnostics=true")");
  const auto result = attune({"template", "check", kernel});
  CAPTURE(result.out + result.err);
  CHECK(result.exit_code == 0);
}

}  // namespace test_template_options
