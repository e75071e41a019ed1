// Templates in exchange files and databases of others go through the same door as those in folders: what would write files, end the
// process or take minutes is refused there too.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>

#include "db/exchange.hpp"
#include "db/exchange_lines.hpp"
#include "tests/integration/cli_fixture.hpp"
#include "tuner/base/hash.hpp"
#include "tuner/base/json.hpp"

namespace test_forged_templates {

using namespace attune;
using nlohmann::json;
using test::Cli;

namespace {

std::string repeated(const std::string& part, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += part;
  return text;
}

struct Forger : Cli {
  Forger() { REQUIRE(attune(tune_words()).exit_code == 0); }

  /// An export whose template `change(specification, files)` has edited, every hash, checksum and digest made to match.
  template <class Change>
  [[nodiscard]] std::string forged(Change&& change) const {
    base::ContentHasher digest;
    std::string rest = attune({"db", "export", "--db", database}).out, result, hash;
    for (std::size_t end = rest.find('\n'); end != std::string::npos; rest.erase(0, end + 1), end = rest.find('\n')) {
      json row = base::parse_json(rest.substr(0, end));
      row.erase("checksum");
      if (row["kind"] == "template") {
        std::string specification = row["spec_json"];
        std::map<std::string, std::string> files = row["files"];
        change(specification, files);
        hash = db::content_hash(db::TemplateRow{"", row["name"], specification, files});
        row["spec_json"] = specification;
        row["files"] = files;
        row["hash"] = hash;
      } else if (row.contains("template_hash")) {
        row["template_hash"] = hash;
      }
      if (row["kind"] == "end") row["digest"] = digest.key();
      const std::string body = base::dump_json(row), checksum = base::content_key(body);
      if (row["kind"] != "header" && row["kind"] != "end") digest.add(checksum);
      result += R"({"checksum":")" + checksum + "\"," + body.substr(1) + "\n";
    }
    return result;
  }

  /// Imports it; a malformed file, for the reason named, and nothing stored.
  template <class Change>
  void refuse(const std::string& why, Change&& change) const {
    CAPTURE(why);
    write("forged.jsonl", forged(change));
    const auto result = attune({"db", "import", (folder / "forged.jsonl").string(), "--db", (folder / "other.db").string()});
    const std::string error = result.err.substr(0, 2000);
    CAPTURE(error);
    CHECK(result.exit_code == 3);
    CHECK(result.err.find(why) != std::string::npos);
  }
};

}  // namespace

TEST_CASE_FIXTURE(Forger, "an imported template passes when nothing in it is changed, so that what refuses the others is what they hold") {
  write("forged.jsonl", forged([](std::string& specification, auto&) { specification += "\n"; }));
  const auto result = attune({"db", "import", (folder / "forged.jsonl").string(), "--db", (folder / "other.db").string()});
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
}

TEST_CASE_FIXTURE(Forger, "an imported template gives the compiler no option that a template of a folder may not give, and makes no file") {
  const std::string victim = (folder / "victim").string();
  for (const std::string option : {"-create-pch=", "--time=", "-fdevice-time-trace="}) {
    refuse("may not be given by a template", [&](std::string& specification, auto&) {
      specification.insert(specification.find("\"let\""), "\"options\": [\"" + option + victim + "\"], ");
    });
    CHECK_FALSE(std::filesystem::exists(victim));
  }
}

TEST_CASE_FIXTURE(Forger, "an imported template that is made to exhaust time, memory or stack is refused") {
  refuse("includes more than 1000 files", [](std::string&, auto& files) {
    files["double_it.cu"] += "#include \"a0\"\n";
    for (int i = 0; i < 20'000; ++i) files[fmt::format("a{}", i)] = fmt::format("#include \"a{}\"\n", i + 1);
    files["a20000"] = "";
  });
  refuse("unknown key", [](std::string& specification, auto&) {
    std::string keys;
    for (int i = 0; i < 100'000; ++i) keys += fmt::format("\"k{}\": 0, ", i);
    specification.insert(specification.find("\"let\""), keys);
  });
  refuse("members and items",
         [](std::string& specification, auto&) { specification.insert(specification.find("\"let\""), repeated("\"k\": 0, ", 300'000)); });
  refuse("nested too deeply", [](std::string& specification, auto&) { specification = repeated("[", 1'000'000); });
  refuse("more than 8388608 bytes",
         [](std::string&, auto& files) { files["double_it.cu"] = repeated("R\"\"\n", 2'000'000) + repeated(" ", 1'000'000); });
  refuse("if it were a directive",
         [](std::string&, auto& files) { files["double_it.cu"] += "#define X 1'0'/*'\n/*\n#include \"/etc/passwd\"\n//*/\n"; });
}

TEST_CASE_FIXTURE(Forger, "an imported source of two million raw strings is read like any other") {
  write("forged.jsonl", forged([](std::string&, auto& files) { files["double_it.cu"] += repeated("R\"\"", 2'000'000); }));
  const auto result = attune({"db", "import", (folder / "forged.jsonl").string(), "--db", (folder / "other.db").string()});
  CAPTURE(result.err.substr(0, 2000));
  CHECK(result.exit_code == 0);
}

}  // namespace test_forged_templates
