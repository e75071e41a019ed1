// attune completion and attune manual: what shells and man(1) are told is what --help says.
#include <doctest/doctest.h>

#include <cctype>
#include <filesystem>
#include <sstream>

#include "tests/integration/cli_fixture.hpp"
#include "tests/support/skip.hpp"

namespace test_shell_files {

using namespace attune;
using test::Cli;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// What bash offers after these words, the last of which is being typed.
std::string offered(const Cli& cli, const std::string& words, int last) {
  const std::string script =
      "source completion.bash; COMP_WORDS=(" + words + "); COMP_CWORD=" + std::to_string(last) + "; _attune; echo \"${COMPREPLY[@]}\"";
  return test::run({"bash", "-c", "cd '" + cli.folder.path().string() + "' && " + script}, cli.environment).out;
}

}  // namespace

TEST_CASE_FIXTURE(Cli, "bash completes commands, their commands and options, and file names where neither fits") {
  const auto script = attune({"completion", "bash"});
  REQUIRE(script.exit_code == 0);
  write("completion.bash", script.out);
  CHECK(offered(*this, "attune do", 1) == "doctor\n");
  CHECK(offered(*this, "attune db ex", 2) == "export\n");
  CHECK(offered(*this, "attune tune reduce --bud", 3) == "--budget\n");
  CHECK(offered(*this, "attune template import --out", 3) == "--output\n");
  CHECK(offered(*this, "attune tune nothing_like_it", 2) == "\n");
  CHECK(has(script.out, "complete -o default"));
}

TEST_CASE_FIXTURE(Cli, "the scripts of zsh and fish are sound where these shells are") {
  for (const char* shell : {"zsh", "fish"}) {
    CAPTURE(shell);
    const auto script = attune({"completion", shell});
    REQUIRE(script.exit_code == 0);
    CHECK(has(script.out, "doctor"));
    if (test::run({"sh", "-c", std::string("command -v ") + shell}, environment).exit_code != 0) {
      test::skip(std::string("there is no ") + shell);
      continue;
    }
    write("script", script.out);
    const auto checked = test::run({shell, "-n", (folder / "script").string()}, environment);
    CHECK(checked.exit_code == 0);
    CHECK(checked.err.empty());
  }
}

TEST_CASE_FIXTURE(Cli, "fish completes a command's commands and options behind it alone, not behind a value that is the same word") {
  if (test::run({"sh", "-c", "command -v fish"}, environment).exit_code != 0) return test::skip("there is no fish");
  write("completion.fish", attune({"completion", "fish"}).out);
  const auto offered_by_fish = [&](const std::string& line) {
    const std::string script = "source '" + (folder / "completion.fish").string() + "'; complete -C '" + line + "'";
    return test::run({"fish", "--no-config", "-c", script}, environment).out;
  };
  CHECK(offered_by_fish("attune do").starts_with("doctor\t"));
  CHECK(offered_by_fish("attune db ex").starts_with("export\t"));
  CHECK(has(offered_by_fish("attune db export --js"), "--json"));
  CHECK(has(offered_by_fish("attune tune reduce --bud"), "--budget"));
  CHECK_FALSE(has(offered_by_fish("attune tune db ex"), "export\t"));
  CHECK_FALSE(has(offered_by_fish("attune db export --db tune --bud"), "--budget"));
  CHECK_FALSE(has(offered_by_fish("attune report tune --bud"), "--budget"));
}

TEST_CASE_FIXTURE(Cli, "a shell that there is no script for is a wrong argument") {
  const auto result = attune({"completion", "tcsh"});
  CHECK(result.exit_code == 2);
  CHECK(has(result.err, "tcsh"));
}

TEST_CASE_FIXTURE(Cli, "there is a manual page of every command, with each of its options") {
  const std::string pages = (folder / "pages").string();
  REQUIRE(attune({"manual", "--output", pages}).exit_code == 0);
  for (const char* page : {"attune.1", "attune-tune.1", "attune-db-export.1", "attune-template-init.1", "attune-doctor.1"}) {
    CAPTURE(page);
    CHECK(std::filesystem::file_size(folder / "pages" / page) > 500);
  }
  const std::string tune = read("pages/attune-tune.1");
  for (const char* option : {"\\-\\-budget", "\\-\\-strategy", "\\-\\-where", "\\-\\-json", "template"}) CHECK(has(tune, option));
  CHECK(has(read("pages/attune.1"), "attune\\-db(1)") == false);
  CHECK(has(read("pages/attune.1"), "\\fBattune\\-db\\fR(1)"));
  // A line that begins with a dot is an instruction; help texts must not hold one by chance.
  for (const auto& entry : std::filesystem::directory_iterator(pages)) {
    std::istringstream lines(read("pages/" + entry.path().filename().string()));
    for (std::string line; std::getline(lines, line);) {
      CAPTURE(line);
      CHECK_FALSE(line.starts_with('\''));
      if (line.starts_with('.'))
        CHECK((line.size() > 2 && (std::isupper(line[1]) != 0 || line == ".nf" || line == ".fi" || line.starts_with(".\\\""))));
    }
  }
}

TEST_CASE_FIXTURE(Cli, "a folder of manual pages that cannot be made is an environment's fault, named") {
  write("file", "in the way");
  const auto result = attune({"manual", "--output", (folder / "file" / "pages").string()});
  CHECK(result.exit_code == 4);
  CHECK(has(result.err, "file/pages"));
}

}  // namespace test_shell_files
