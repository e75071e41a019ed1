// Problems from a file, and what other files suggest to try.
#include <doctest/doctest.h>

#include "tests/integration/cli_fixture.hpp"

namespace test_problem_files {

using namespace attune;
using namespace attune::test;

namespace {

std::vector<std::string> words_for(const Cli& cli, const std::string& file, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{"tune", cli.kernel, "--replay", cli.recording, "--problems", (cli.folder / file).string()};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

TEST_CASE_FIXTURE(Cli, "problems from a file are tuned in its order, each once, whatever else a line leaves out or repeats") {
  write("problems.jsonl", "{\"n\": 100000, \"T\": \"f32\"}\n\n  \n{\"T\": \"f32\", \"n\": 1000}\n{\"n\": 1000, \"T\": \"f32\"}\n");
  const auto run = attune(words_for(*this, "problems.jsonl", {"--json"}));
  REQUIRE(run.exit_code == 0);
  std::vector<std::int64_t> sizes;
  for (const auto& event : json_lines(run.out))
    if (event["event"] == "problem") sizes.push_back(event["problem"]["n"]);
  CHECK(sizes == std::vector<std::int64_t>{100000, 1000});
}

TEST_CASE_FIXTURE(Cli, "what is wrong with a file of problems is told with its line, and nothing is tuned") {
  const std::pair<std::string, std::string> cases[] = {
      {"{\"T\": \"f32\", \"n\": 1000}\n{\"T\": \"f31\", \"n\": 1000}\n", ":2: "},
      {"{\"T\": \"f32\", \"n\": 1000}\nnonsense\n", ":2: "},
      {"{\"T\": \"f32\"}\n", ":1: "},
      {"{\"T\": \"f32\", \"n\": 1e3}\n", ":1: "},
      {"[1]\n", ":1: "},
      {"\n\n", "names no problem"},
  };
  for (const auto& [text, told] : cases) {
    CAPTURE(text);
    write("problems.jsonl", text);
    const auto run = attune(words_for(*this, "problems.jsonl"));
    CHECK(run.exit_code == 2);
    CHECK(run.err.find(told) != std::string::npos);
    CHECK(run.err.find("problems.jsonl") != std::string::npos);
  }
  CHECK(attune(words_for(*this, "missing.jsonl")).exit_code == 2);
  write("problems.jsonl", "{\"T\": \"f32\", \"n\": 1000}\n");
  const auto both = attune(words_for(*this, "problems.jsonl", {"--n", "5"}));
  CHECK(both.exit_code == 2);
  CHECK(both.err.find("--n") != std::string::npos);
}

TEST_CASE_FIXTURE(Cli, "a file to try is looked at before anything is measured, and needs a strategy that asks for it") {
  write("problems.jsonl", "{\"T\": \"f32\", \"n\": 1000}\n");
  const auto file = (folder / "problems.jsonl").string();
  CHECK(attune(words_for(*this, "problems.jsonl", {"--strategy", "random", "--try", database})).exit_code == 2);
  CHECK(attune(words_for(*this, "problems.jsonl", {"--try", (folder / "missing.db").string()})).exit_code == 5);
  CHECK(attune(words_for(*this, "problems.jsonl", {"--strategy", "portfolio", "--try", (folder / "missing.db").string()})).exit_code == 5);
  CHECK(
      attune(words_for(*this, "problems.jsonl", {"--strategy", "portfolio", "--try", (folder / "missing.json.zst").string()})).exit_code ==
      2);
  CHECK(attune(words_for(*this, "problems.jsonl", {"--strategy", "portfolio", "--try", (folder / "problems.jsonl.json").string()}))
            .exit_code == 2);
}

}  // namespace test_problem_files
