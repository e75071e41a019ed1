// Standard streams that are closed, full or gone: no file gets their numbers, and the exit code tells what happened.
#include <doctest/doctest.h>

#include <filesystem>

#include "tests/integration/cli_fixture.hpp"
#include "tuner/base/json.hpp"

namespace test_standard_streams {

using namespace attune;
using test::Cli;
namespace fs = std::filesystem;

namespace {

bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct Streams : Cli {
  [[nodiscard]] static std::string quoted(const std::vector<std::string>& words) {
    std::string text = "'" ATTUNE_EXECUTABLE "'";
    for (const auto& word : words) text += " '" + word + "'";
    return text;
  }
  /// The exit code of a command with redirections, and what reached the streams that were left.
  [[nodiscard]] test::CommandResult redirected(const std::vector<std::string>& words, const std::string& redirections) const {
    return test::run({"sh", "-c", "exec " + quoted(words) + " " + redirections}, environment);
  }
  [[nodiscard]] std::string all_files() const {
    std::string text;
    for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
      if (entry.is_regular_file()) text += read(fs::relative(entry.path(), folder.path()).string());
    }
    return text;
  }
};

}  // namespace

TEST_CASE_FIXTURE(Streams, "whatever streams are closed, a tuning run stores everything, and no message gets into a file") {
  for (int closed = 0; closed < 8; ++closed) {
    CAPTURE(closed);
    std::string redirections;
    if ((closed & 1) != 0) redirections += " <&-";
    if ((closed & 2) != 0) redirections += " >&-";
    if ((closed & 4) != 0) redirections += " 2>&-";
    const std::string file = (folder / ("closed" + std::to_string(closed) + ".db")).string();
    const auto tuned = redirected(tune_words({"--db", file}), redirections);
    // What a user asked to be told on a closed stream could not be told; that nobody listens to errors is no failure.
    CHECK(tuned.exit_code == ((closed & 2) != 0 ? 4 : 0));
    CHECK(fs::file_size(file + ".lock") == 0);
    CHECK(attune({"db", "check", "--db", file}).exit_code == 0);
  }
  const std::string all = all_files();
  for (const char* message : {"Tuning double_it", "attune: ", "configurations replayed", "REPLAY, nothing"}) {
    CAPTURE(message);
    CHECK_FALSE(mentions(all, message));
  }
}

TEST_CASE_FIXTURE(Streams, "an error keeps its exit code when nobody can be told: standard error closed, full, or its reader gone") {
  write("broken.jsonl", "no JSON\n");
  write("spec/template.json", "{");
  fs::create_directory(folder / "spec");
  write("spec/template.json", "{");
  struct Case {
    int exit_code;
    std::vector<std::string> words;
  };
  const std::vector<Case> cases = {{2, {"no-such-command"}},
                                   {2, {"tune"}},
                                   {2, {"tune", "no_such_template"}},
                                   {3, {"template", "check", (folder / "spec").string()}},
                                   {3, {"db", "import", (folder / "broken.jsonl").string()}},
                                   {4, {"db", "export", "/dev/full"}},
                                   {5, {"db", "info", "--db", (folder / "none.db").string()}}};
  for (const auto& [exit_code, words] : cases) {
    CAPTURE(words.front());
    REQUIRE(attune(words).exit_code == exit_code);
    for (const char* lost : {"2>&-", "2>/dev/full", ">&- 2>&-", "<&- >&- 2>&-", ">/dev/full 2>/dev/full", "2>&1 >/dev/null"}) {
      CAPTURE(lost);
      CHECK(redirected(words, lost).exit_code == exit_code);
    }
    const std::string gone = "{ sleep 0.2; " + quoted(words) + "; echo $? > '" + (folder / "code").string() + "'; } 2>&1 | true";
    static_cast<void>(test::run({"sh", "-c", gone}, environment));
    CHECK(read("code") == std::to_string(exit_code) + "\n");
  }
}

TEST_CASE_FIXTURE(Streams, "what was asked for and cannot be written is exit code 4, help and version as well") {
  REQUIRE(attune(tune_words()).exit_code == 0);
  const std::vector<std::vector<std::string>> commands = {{"--help"},
                                                          {"--version"},
                                                          {"tune", "--help"},
                                                          {"db", "export", "--help"},
                                                          {"show"},
                                                          {"show", "--json"},
                                                          {"db", "info"},
                                                          {"db", "info", "--json"},
                                                          {"db", "path"},
                                                          {"db", "check"},
                                                          {"db", "export"},
                                                          {"devices"},
                                                          {"template", "list"},
                                                          {"report", "double_it", "--format", "md"},
                                                          {"report", "double_it", "--output", "-"},
                                                          {"report", "double_it", "--output", "/dev/stdout"},
                                                          tune_words(),
                                                          tune_words({"--json"})};
  for (const auto& words : commands) {
    CAPTURE(words.front());
    CAPTURE(words.back());
    CHECK(redirected(words, ">/dev/null").exit_code == 0);
    for (const char* lost : {">/dev/full", ">&-", ">/dev/full 2>&-", ">/dev/full 2>/dev/full", ">&- 2>&-"}) {
      CAPTURE(lost);
      CHECK(redirected(words, lost).exit_code == 4);
    }
    CHECK(mentions(redirected(words, ">/dev/full").err, "ENOSPC"));
  }
}

TEST_CASE_FIXTURE(Streams, "notices and progress that cannot be told stop nothing") {
  for (const char* lost : {"2>&-", "2>/dev/full"}) {
    CAPTURE(lost);
    const auto tuned = redirected(tune_words({"--json", "--retry-failed"}), lost);
    CHECK(tuned.exit_code == 0);
    CHECK(mentions(tuned.out, "\"event\":\"end\""));
    const auto exported = redirected({"db", "export"}, lost);
    CHECK(exported.exit_code == 0);
    CHECK(redirected({"explain", kernel, "--T", "f32", "--size", "1000", "--device", "sm_90"}, lost).exit_code == 0);
  }
}

TEST_CASE_FIXTURE(Streams, "a merge of more databases than files may be open says so, and raises its own limit where it may") {
  REQUIRE(attune(tune_words()).exit_code == 0);
  std::vector<std::string> words = {"db", "merge", "--db", (folder / "merged.db").string()};
  for (int i = 0; i < 30; ++i) {
    words.push_back((folder / ("part" + std::to_string(i) + ".db")).string());
    fs::copy_file(database, words.back());
  }
  const auto limited = [&](const std::string& limit) { return test::run({"sh", "-c", limit + " && exec " + quoted(words)}, environment); };
  const auto refused = limited("ulimit -n 30");
  CAPTURE(refused.err);
  CHECK(refused.exit_code == 4);
  CHECK(mentions(refused.err, "ulimit -n"));
  CHECK_FALSE(mentions(refused.err, "writable file"));
  CHECK_FALSE(fs::exists(folder / "merged.db"));
  const auto raised = limited("ulimit -Sn 30");
  CAPTURE(raised.err);
  CHECK(raised.exit_code == 0);
}

}  // namespace test_standard_streams
