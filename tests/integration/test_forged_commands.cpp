// What commands do with exchange files that a forger has edited: one is refused, or no command stops over what it brought.
#include <doctest/doctest.h>

#include <filesystem>

#include "tests/integration/forgery_fixture.hpp"
#include "tuner/base/json.hpp"

namespace test_forged_commands {

using namespace attune;
using namespace attune::test;
using nlohmann::json;
namespace fs = std::filesystem;

TEST_CASE_FIXTURE(Forgery, "the command refuses a best row whose record somebody took out of the file, and stores nothing") {
  const json best = object_of(lines[first("best")]);
  Lines fewer = lines;
  std::erase_if(fewer, [&](const std::string& line) {
    return kind_of(line) == "record" && object_of(line)["configuration"] == best["configuration"];
  });
  REQUIRE(fewer.size() + 1 == lines.size());
  write("forged.jsonl", closed(fewer));
  const std::string other = (folder / "other.db").string();
  const auto result = attune({"db", "import", (folder / "forged.jsonl").string(), "--db", other});
  CHECK_MESSAGE(result.exit_code == 3, result.err);
  CHECK(attune({"show", "--db", other}).out.find("block_size") == std::string::npos);
}

TEST_CASE_FIXTURE(Forgery,
                  "whatever kind of value somebody puts into a session's summary or a best row's details, no command stops over it") {
  const std::string rows = (folder / "forged.jsonl").string(), other = (folder / "other.db").string();
  const auto members = [&](const std::string& kind, const char* field) {
    std::vector<std::string> names;
    const json inner = base::parse_json(object_of(lines[first(kind)])[field].get<std::string>());
    for (const auto& [name, value] : inner.items()) names.push_back(name);
    return names;
  };
  int imported = 0;
  for (const auto& [kind, field] : {std::pair("session", "summary_json"), std::pair("best", "detail_json")}) {
    for (const json& strange : {json("x"), json(-1), json::array({json::object()}), json(nullptr)}) {
      json object = object_of(lines[first(kind)]);
      json inner = base::parse_json(object[field].get<std::string>());
      for (const std::string& name : members(kind, field)) inner[name] = strange;
      inner["ladder"] = strange;
      inner["read_ceiling_bytes_per_s"] = strange;
      object[field] = base::dump_json(inner);
      Lines changed = lines;
      changed[first(kind)] = sealed(object);
      write("forged.jsonl", closed(changed));
      fs::remove(other);
      if (attune({"db", "import", rows, "--db", other}).exit_code != 0) continue;
      ++imported;
      for (const auto& words : std::vector<std::vector<std::string>>{{"show"},
                                                                     {"show", "--failed"},
                                                                     {"report", "--format", "md", "--output", "-"},
                                                                     {"db", "check"},
                                                                     {"db", "export", "-"},
                                                                     tune_words({"--budget", "3"})}) {
        std::vector<std::string> with = words;
        with.insert(with.end(), {"--db", other});
        const auto result = attune(with);
        CAPTURE(words);
        CAPTURE(strange.dump());
        CHECK_MESSAGE(result.exit_code == 0, result.err);
      }
    }
  }
  CHECK(imported > 0);
}

}  // namespace test_forged_commands
