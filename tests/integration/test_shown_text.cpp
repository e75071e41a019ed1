// Text of others (recordings, databases, templates) on a terminal, in Markdown, HTML, CSV and JSON: it is seen and does nothing.
#include <doctest/doctest.h>

#include <filesystem>

#include "tests/integration/cli_fixture.hpp"
#include "tuner/base/json.hpp"

namespace test_shown_text {

using namespace attune;
using nlohmann::json;
using test::Cli;
namespace fs = std::filesystem;

namespace {

bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Sets a title and clears the screen, by ESC and by C1; turns the direction around; forges a line; ends cells and elements.
const std::string kEvil =
    "GPU\x1b]0;owned\x07\x1b[2J\xc2\x9b"
    "2J\x7f\xe2\x80\xae"
    "cba\xe2\x81\xa6\nattune: forged line\r</script><script>alert(1)</script><!-- | `x` [a](b) =1";

/// No byte that acts on a terminal, written down apart from the code.
bool acts(const std::string& text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7F) return true;
  }
  for (int low = 0x80; low < 0xA0; ++low) {
    if (mentions(text, std::string("\xc2") + static_cast<char>(low))) return true;
  }
  for (const char* turn : {"\xe2\x80\xaa", "\xe2\x80\xab", "\xe2\x80\xac", "\xe2\x80\xad", "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x81\xa7",
                           "\xe2\x81\xa8", "\xe2\x81\xa9"}) {
    if (mentions(text, turn)) return true;
  }
  return false;
}

bool forges_a_line(const std::string& text) { return mentions("\n" + text, "\nattune: forged line"); }

struct Shown : Cli {
  Shown() {
    auto made = test::synthetic_recording(test::small_template(), {test::small_problem(1000), test::small_problem(100000)},
                                          [](const std::string&, std::uint64_t i) { return i == 3 ? 0.0 : 5.0 + static_cast<double>(i); });
    made.device.name = kEvil;
    made.device.driver = kEvil;
    made.nvrtc = kEvil;
    made.coverage = kEvil;
    for (auto& problem : made.problems) problem.measurements[3].detail = kEvil;
    made.save(recording);
  }
};

}  // namespace

TEST_CASE_FIXTURE(Shown, "no command lets stored text act on a terminal or forge a line of its own") {
  const auto tuned = attune(tune_words());
  CAPTURE(tuned.err);
  REQUIRE(tuned.exit_code == 0);
  const std::vector<std::vector<std::string>> commands = {tune_words(),
                                                          tune_words({"--json"}),
                                                          {"show"},
                                                          {"show", "--json"},
                                                          {"show", "--failed"},
                                                          {"show", "--failed", "--log"},
                                                          {"show", "--failed", "--json"},
                                                          {"devices"},
                                                          {"devices", "--json"},
                                                          {"db", "info"},
                                                          {"db", "check"},
                                                          {"db", "check", "--json"},
                                                          {"explain", kernel, "--T", "f32", "--size", "1000", "--device", "GPU"},
                                                          {"explain", kernel, "--T", "f32", "--size", "1000", "--device", "sm_90"},
                                                          {"explain", kernel, "--T", "f32", "--size", "1000", "--device", "GPU", "--json"},
                                                          {"report", "double_it", "--format", "md"},
                                                          {"report", "double_it", "--output", "-"},
                                                          {"report", "double_it", "--format", "csv"},
                                                          {"report", "double_it", "--format", "json"}};
  for (auto words : commands) {
    CAPTURE(words.front());
    CAPTURE(words.back());
    const auto said = attune(words);
    CAPTURE(said.err);
    CHECK((said.exit_code == 0 || said.exit_code == 2));
    std::string out = said.out;
    if (words.back() == "csv") std::erase(out, '\r');  // its line ends
    CHECK_FALSE(acts(out));
    CHECK_FALSE(acts(said.err));
    const bool lines_are_stored =
        words.back() == "--log" || words.back() == "csv" || words.back() == "-";  // logs are shown in lines, indented; fields are quoted
    if (!lines_are_stored) CHECK_FALSE(forges_a_line(said.out));
    if (!lines_are_stored) CHECK_FALSE(forges_a_line(said.err));
  }
  CHECK(
      mentions(attune({"devices"}).out, "GPU\\x1b]0;owned\\x07\\x1b[2J\\u009b2J\\x7f\\u202ecba\\u2066\\nattune: forged line\\r</script>"));
}

TEST_CASE_FIXTURE(Shown, "--json says the exact text, with nothing in it that acts") {
  REQUIRE(attune(tune_words()).exit_code == 0);
  const auto known = base::parse_json(attune({"devices", "--json"}).out)["known"];
  REQUIRE(known.size() == 1);
  CHECK(known[0]["name"] == kEvil);
  const auto failed = base::parse_json(attune({"show", "--failed", "--json"}).out);
  REQUIRE_FALSE(failed.empty());
  CHECK(failed[0]["detail"] == kEvil);
  const auto report = base::parse_json(attune({"report", "double_it", "--format", "json"}).out);
  CHECK(report["devices"][0]["name"] == kEvil);
}

TEST_CASE_FIXTURE(Shown, "no stored text is markup in a report: not in headings, cells, attributes or the script") {
  REQUIRE(attune(tune_words()).exit_code == 0);
  const std::string md = attune({"report", "double_it", "--format", "md"}).out, page = attune({"report", "double_it", "--output", "-"}).out;
  REQUIRE(mentions(md, "forged line"));
  CHECK_FALSE(mentions(md, "<script"));
  CHECK_FALSE(mentions(md, "</script"));
  CHECK_FALSE(mentions(md, "<!--"));
  CHECK_FALSE(mentions(md, "[a](b)"));
  CHECK_FALSE(mentions(md, " `x`"));
  std::size_t headings = 0;
  for (std::size_t at = md.find("\n## "); at != std::string::npos; at = md.find("\n## ", at + 1)) {
    const std::string heading = md.substr(at + 1, md.find('\n', at + 1) - at - 1);
    headings += mentions(heading, "alert(1)") ? 1 : 0;
    CHECK_FALSE(mentions(heading, "<"));
  }
  CHECK(headings >= 2);
  REQUIRE(mentions(page, "forged line"));
  CHECK_FALSE(mentions(page, "<script>alert"));
  CHECK_FALSE(mentions(page, "</script><script>"));
}

TEST_CASE_FIXTURE(Shown, "errors about files are shown escaped too: names, values, places") {
  const std::string name =
      "bad\x1b[31m\xc2\x9b"
      "name.json";
  write(name, "{\"attune_recording\": \x1b[2J");
  auto words = tune_words();
  words.back() = (folder / name).string();
  const auto failed = attune(words);
  CHECK(failed.exit_code == 3);
  CHECK_FALSE(acts(failed.err));
  CHECK(mentions(failed.err, "bad\\x1b[31m\\u009bname.json"));
  fs::create_directory(folder / "evil");
  std::string text = test::small_template_json();
  text.replace(text.find("block_size * items"), 5, "bl\\u001b[2J");
  write("evil/template.json", text);
  write("evil/double_it.cu", test::small_template_source());
  const auto refused = attune({"template", "check", (folder / "evil").string()});
  CHECK(refused.exit_code == 3);
  CHECK_FALSE(acts(refused.err));
  const auto unknown = attune({"tune", kernel, "--\x1b[31mT", "f32"});
  CHECK(unknown.exit_code == 2);
  CHECK_FALSE(acts(unknown.err));
  const auto command = attune({"\x1b[31mtune"});
  CHECK(command.exit_code == 2);
  CHECK_FALSE(acts(command.err));
}

}  // namespace test_shown_text
