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

bool is_here(const Cli& cli, const char* shell) {
  return test::run({"sh", "-c", std::string("command -v ") + shell}, cli.environment).exit_code == 0;
}

/// What bash offers after these words, the last of which is being typed; nothing where it would offer files.
std::string offered(const Cli& cli, const std::string& words, int last) {
  const std::string script =
      "source completion.bash; COMP_WORDS=(" + words + "); COMP_CWORD=" + std::to_string(last) + "; _attune; echo \"${COMPREPLY[@]}\"";
  return test::run({"bash", "-c", "cd '" + cli.folder.path().string() + "' && " + script}, cli.environment).out;
}

/// What fish offers behind a line, in a folder with one file, some.db. Requires: completion.fish.
std::string offered_by_fish(const Cli& cli, const std::string& line) {
  cli.write("files/some.db", "");
  const std::string script = "cd '" + (cli.folder / "files").string() + "'; source ../completion.fish; complete -C '" + line + "'";
  return test::run({"fish", "--no-config", "-c", script}, cli.environment).out;
}

/// A zsh in a terminal of its own that prints what is offered where it would show it: zsh completes for a line editor alone.
constexpr const char* kAskZsh = R"(
cd $1
zmodload zsh/zpty
zpty shell "TERM=xterm zsh -f -i"
zpty -w shell "PS1=; fpath=($2 \$fpath); autoload -Uz compinit; compinit -u -D; stty -echo cols 200"
zpty -w shell 'compadd() { if (( ${@[(I)-[OAD]*]} )); then builtin compadd "$@"; return; fi; local -a found
  builtin compadd -O found "$@"; print -rl -- "" "offered:"$^found; builtin compadd "$@" }'
zpty -w shell 'show() { _main_complete; print -r -- END"-"HERE; compstate[insert]= compstate[list]= }; zle -C show complete-word show
  bindkey "^I" show; print -r -- READY"-"NOW'
while zpty -r shell line; do [[ $line != *READY-NOW* ]] || break; done
zpty -w -n shell "$3"$'\t'
while zpty -r shell line; do
  [[ $line != *END-HERE* ]] || break
  [[ $line != offered:* ]] || print -r -- "${${line#offered:}%%[$'\r\n']*}"
done
zpty -d shell
)";

/// What zsh offers behind a line, one a line, in a folder with one file, some.db. Requires: functions/_attune.
std::string offered_by_zsh(const Cli& cli, const std::string& line) {
  cli.write("files/some.db", "");
  cli.write("ask.zsh", kAskZsh);
  return test::run(
             {"zsh", "-f", (cli.folder / "ask.zsh").string(), (cli.folder / "files").string(), (cli.folder / "functions").string(), line},
             cli.environment)
      .out;
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

TEST_CASE_FIXTURE(Cli, "bash offers options where a word begins with a hyphen, known values where one belongs, and else files") {
  write("completion.bash", attune({"completion", "bash"}).out);
  for (const char* words : {"attune report --db ''", "attune report --db x", "attune fleet run ''", "attune completion bash ''"}) {
    CAPTURE(words);
    CHECK(offered(*this, words, 3) == "\n");
  }
  const std::string options = offered(*this, "attune report --", 2);
  for (const char* option : {"--db", "--format", "--help", "--policy"}) CHECK(has(options, option));
  CHECK(has(offered(*this, "attune fleet run -", 3), "--shard"));
  CHECK(offered(*this, "attune completion ''", 2) == "bash zsh fish\n");
  CHECK(offered(*this, "attune completion z", 2) == "zsh\n");
  CHECK(offered(*this, "attune tune reduce --strategy a", 4) == "annealing auto\n");
  CHECK(offered(*this, "attune tune reduce --strategy =", 4) == offered(*this, "attune tune reduce --strategy ''", 4));
  CHECK(offered(*this, "attune tune reduce --strategy = mo", 5) == "model\n");
  CHECK(offered(*this, "attune report --policy ''", 3) == "cold/graph cold/stream hot/graph hot/stream\n");
  CHECK(offered(*this, "attune cache export --format ''", 4) == "kernel-tuner t4\n");
  // A value is no command, and behind it options are what they were.
  CHECK(offered(*this, "attune db export --db tune --js", 5) == "--json\n");
}

TEST_CASE_FIXTURE(Cli, "every strategy that is offered is one that the command takes, and none that it takes is missing") {
  write("completion.bash", attune({"completion", "bash"}).out);
  const auto refused = attune(tune_words({"--strategy", "nothing_like_it"}));
  REQUIRE(has(refused.err, "known: "));
  std::string known = refused.err.substr(refused.err.find("known: ") + 7);
  known = known.substr(0, known.find_first_of("\n;"));
  std::istringstream words(offered(*this, "attune tune x --strategy ''", 4));
  std::string listed;
  for (std::string word; words >> word;) listed += (listed.empty() ? "" : ", ") + word;
  CHECK(listed == known);
  // What won before is not told by a recorded space.
  const std::string searching = offered(*this, "attune simulate --strategy ''", 3);
  CHECK(has(searching, "forest"));
  CHECK_FALSE(has(searching, "winners"));
  CHECK_FALSE(has(searching, "portfolio"));
}

TEST_CASE_FIXTURE(Cli, "a description is cut at its first sentence, and not within parentheses") {
  const std::string whole = "auto (what won elsewhere, then learning; all of a space that the budget covers)";
  CHECK(has(attune({"completion", "fish"}).out, whole));
  CHECK(has(attune({"completion", "zsh"}).out, whole));
  CHECK_FALSE(has(attune({"completion", "fish"}).out, "DIR to write; on a file system"));
}

TEST_CASE_FIXTURE(Cli, "the scripts of zsh and fish are sound where these shells are") {
  for (const char* shell : {"zsh", "fish"}) {
    CAPTURE(shell);
    const auto script = attune({"completion", shell});
    REQUIRE(script.exit_code == 0);
    CHECK(has(script.out, "doctor"));
    if (!is_here(*this, shell)) {
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
  if (!is_here(*this, "fish")) return test::skip("there is no fish");
  write("completion.fish", attune({"completion", "fish"}).out);
  CHECK(offered_by_fish(*this, "attune do").starts_with("doctor\t"));
  CHECK(offered_by_fish(*this, "attune db ex").starts_with("export\t"));
  CHECK(has(offered_by_fish(*this, "attune db export --js"), "--json"));
  CHECK(has(offered_by_fish(*this, "attune tune reduce --bud"), "--budget"));
  CHECK_FALSE(has(offered_by_fish(*this, "attune tune db ex"), "export\t"));
  CHECK_FALSE(has(offered_by_fish(*this, "attune db export --db tune --bud"), "--budget"));
  CHECK_FALSE(has(offered_by_fish(*this, "attune report tune --bud"), "--budget"));
}

TEST_CASE_FIXTURE(Cli, "fish offers options where a word begins with a hyphen, known values where one belongs, and else files") {
  if (!is_here(*this, "fish")) return test::skip("there is no fish");
  write("completion.fish", attune({"completion", "fish"}).out);
  CHECK(offered_by_fish(*this, "attune report --db ") == "some.db\n");
  CHECK(offered_by_fish(*this, "attune fleet run ") == "some.db\n");
  CHECK(offered_by_fish(*this, "attune completion ") == "bash\nfish\nzsh\n");
  CHECK(offered_by_fish(*this, "attune completion bash ") == "some.db\n");
  CHECK(offered_by_fish(*this, "attune tune reduce --strategy a") == "annealing\nauto\n");
  CHECK(offered_by_fish(*this, "attune report --policy h") == "hot/graph\nhot/stream\n");
  const std::string options = offered_by_fish(*this, "attune report --");
  for (const char* option : {"--db\t", "--format\t", "--help\t", "--policy\tOnly this policy"}) CHECK(has(options, option));
  CHECK_FALSE(has(options, "some.db"));
}

TEST_CASE_FIXTURE(Cli, "zsh offers options where a word begins with a hyphen, known values where one belongs, and else files") {
  if (!is_here(*this, "zsh")) return test::skip("there is no zsh");
  write("functions/_attune", attune({"completion", "zsh"}).out);
  CHECK(offered_by_zsh(*this, "attune do") == "doctor\n");
  CHECK(offered_by_zsh(*this, "attune report --db ") == "some.db\n");
  CHECK(offered_by_zsh(*this, "attune completion ") == "bash\nzsh\nfish\n");
  CHECK(offered_by_zsh(*this, "attune tune reduce --strategy a") == "annealing\nauto\n");
  CHECK(offered_by_zsh(*this, "attune report --policy h") == "hot/graph\nhot/stream\n");
  const std::string options = offered_by_zsh(*this, "attune report --");
  for (const char* option : {"--db\n", "--format\n", "--help\n", "--policy\n"}) CHECK(has(options, option));
  CHECK_FALSE(has(options, "some.db"));
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
