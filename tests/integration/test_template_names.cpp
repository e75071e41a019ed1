// Which template a word of the command line names where the working directory has a folder that is called so.
#include <doctest/doctest.h>

#include <filesystem>

#include "tests/integration/cli_fixture.hpp"

namespace test_template_names {

using namespace attune;
using test::Cli;

namespace {

struct Names : Cli {
  /// `attune WORDS` in a folder of the test's own.
  [[nodiscard]] test::CommandResult in(const std::string& below, const std::string& words) const {
    return test::run({"/bin/sh", "-c", "cd " + (folder / below).string() + " && " ATTUNE_EXECUTABLE " " + words}, environment);
  }
};

}  // namespace

TEST_CASE_FIXTURE(Names, "a bare name is no folder of the working directory; the error says how to name the one that is there") {
  for (const std::string command : {"template check", "tune", "explain", "source"}) {
    CAPTURE(command);
    const auto result = in("", command + " double_it --T f32 --n 1000");
    CHECK(result.exit_code == 2);
    CHECK(result.err.find("there is no template 'double_it'") != std::string::npos);
    CHECK(result.err.find("given by its path: ./double_it is a folder with one: write ./double_it\n") != std::string::npos);
  }
  CHECK(in("", "template check ./double_it").exit_code == 0);
}

TEST_CASE_FIXTURE(Names, "a folder without a template is not offered, nor is one offered where a template of that name was found") {
  std::filesystem::create_directory(folder / "empty");
  CHECK(in("", "template check empty").err.find("is a folder with one") == std::string::npos);
  write("reduce/template.json", "{");
  const auto built_in = in("", "template check reduce");
  CHECK(built_in.exit_code == 0);
  CHECK(built_in.err.empty());
}

TEST_CASE_FIXTURE(Names, "a dot and two dots are paths") {
  CHECK(in("double_it", "template check .").exit_code == 0);
  std::filesystem::create_directory(folder / "double_it/inner");
  CHECK(in("double_it/inner", "template check ..").exit_code == 0);
  const auto none = in("", "template check .");
  CHECK(none.exit_code == 2);
  CHECK(none.err.find("there is no template in './': the folder lacks template.json") != std::string::npos);
}

}  // namespace test_template_names
