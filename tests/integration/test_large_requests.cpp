// Requests that would take days or fill the memory: too many problems are counted and refused, a huge space is given up on Ctrl-C.
#include <doctest/doctest.h>
#include <signal.h>

#include <array>
#include <filesystem>

#include "tests/integration/cli_fixture.hpp"
#include "tests/support/huge_template.hpp"
#include "tests/support/terminal.hpp"

namespace test_large_requests {

using namespace attune;
using test::Cli;
using namespace std::chrono_literals;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// With a template of four sizes.
struct FourSizes : Cli {
  FourSizes() {
    std::string text = test::small_template_json();
    text.replace(
        text.find(R"("n": {"size": {"min": 1}})"), 25,
        R"("n": {"size": {"min": 1}}, "rows": {"size": {"min": 1}}, "planes": {"size": {"min": 1}}, "cells": {"size": {"min": 1}})");
    write("double_it/template.json", text);
  }

  [[nodiscard]] test::CommandResult ask(std::vector<std::string> words, const std::string& n, const std::string& rows,
                                        const std::string& planes, const std::string& cells = "1") const {
    for (const auto& word : {std::string("--T"), std::string("f32,f64"), std::string("--n"), n, std::string("--rows"), rows,
                             std::string("--planes"), planes, std::string("--cells"), cells})
      words.push_back(word);
    return attune(words);
  }
};

}  // namespace

TEST_CASE_FIXTURE(
    FourSizes, "sizes times sizes are counted before any problem is made, and refused above a million, by every command that takes them") {
  const std::vector<std::vector<std::string>> commands = {{"tune", kernel},    {"tune", kernel, "--replay", recording},
                                                          {"ladder", kernel},  {"template", "check", kernel},
                                                          {"explain", kernel}, {"record", kernel, "-o", (folder / "new.json").string()}};
  write("double_it/ladder.json", R"({"attune_ladder": 1, "summary": "s", "rungs": [{"name": "all", "why": "w", "where": "True"}]})");
  for (const auto& words : commands) {
    CAPTURE(words.front());
    const auto result = ask(words, "1..65536:+1", "1..65536:+1", "1");
    CAPTURE(result.err);
    CHECK(result.exit_code == 2);
    CHECK(contains(result.err, "name 8589934592 problems (2 of T x 65536 of n x 65536 of rows x 1 of planes x 1 of cells)"));
    CHECK(contains(result.err, "at most 1000000"));
  }
  CHECK_FALSE(std::filesystem::exists(database));
}

TEST_CASE_FIXTURE(FourSizes, "the count of problems is exact at its bound and does not overflow") {
  CHECK(contains(ask({"template", "check", kernel}, "1..1000:+1", "1..501:+1", "1").err, "name 1002000 problems"));
  CHECK(contains(ask({"tune", kernel}, "1..65536:+1", "1..65536:+1", "1..65536:+1").err, "name 562949953421312 problems"));
  CHECK(contains(ask({"tune", kernel}, "1..65536:+1", "1..65536:+1", "1..65536:+1", "1..65536:+1").err, "name more than 2^64 problems"));
  // Exactly a million is taken, and fails at something else: it is a recording of another template.
  const auto taken = ask({"tune", kernel, "--replay", recording}, "1..1000:+1", "1..500:+1", "1");
  CHECK(contains(taken.err, "synthetic.json.zst"));
  CHECK_FALSE(contains(taken.err, "1000000"));
}

TEST_CASE_FIXTURE(Cli, "checking a template with a space of 10^12 points shows how far it is, and ends on Ctrl-C and SIGTERM") {
  test::write_huge_template(folder / "huge");
  for (const bool typed : {true, false}) {
    CAPTURE(typed);
    test::Terminal terminal({ATTUNE_EXECUTABLE, "template", "check", (folder / "huge").string()}, environment);
    CHECK(terminal.shows("building the search space", 60s));
    if (typed)
      terminal.type("\x03");
    else
      ::kill(terminal.pid(), SIGTERM);
    CHECK(terminal.wait() == 130);
    CAPTURE(terminal.text());
    CHECK(contains(terminal.text(), "interrupted while the search space was built"));
  }
}

TEST_CASE_FIXTURE(FourSizes, "a seed that is no whole number and devices without a name are refused before anything is opened") {
  for (const auto& [option, value, why] :
       std::vector<std::array<std::string, 3>>{{"--seed", "-1", "'-1' is no whole number from 0 to 2^64 - 1"},
                                               {"--seed", "18446744073709551616", "no whole number"},
                                               {"--device", "", "no device is named"}}) {
    const auto result = ask({"tune", kernel, option, value}, "1", "1", "1");
    CAPTURE(result.err);
    CHECK(result.exit_code == 2);
    CHECK(contains(result.err, why));
  }
  CHECK_FALSE(std::filesystem::exists(database));
}

}  // namespace test_large_requests
