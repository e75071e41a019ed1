// Databases that were damaged or prepared by somebody, met by the commands: the tuning run goes on, nothing of theirs runs.
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "attune/error.hpp"
#include "tests/integration/cli_fixture.hpp"
#include "tuner/base/json.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace test_hostile_databases {

using namespace attune;
using test::Cli;
namespace fs = std::filesystem;

namespace {

bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

constexpr std::size_t kPage = 4096;

struct Hostile : Cli {
  /// Every fourth configuration failed, so that a run has something to replace.
  Hostile() {
    auto made = test::synthetic_recording(
        test::small_template(), {test::small_problem(1000), test::small_problem(100000)},
        [](const std::string&, std::uint64_t i) { return i % 4 == 3 ? 0.0 : 5.0 + static_cast<double>((i * 7) % 11); });
    made.save(recording);
    REQUIRE(attune(tune_words()).exit_code == 0);
    // One file, without a write-ahead log.
    SQLite::Database sqlite(database, SQLite::OPEN_READWRITE);
    sqlite.exec("PRAGMA journal_mode = DELETE");
    records = sqlite.execAndGet("SELECT count(*) FROM records").getInt();
  }

  void change(const std::string& sql) const { SQLite::Database(database, SQLite::OPEN_READWRITE).exec(sql); }
  [[nodiscard]] int count(const std::string& table) const {
    return SQLite::Database(database).execAndGet("SELECT count(*) FROM " + table).getInt();
  }

  /// Flips a bit in the content of every page of an index.
  [[nodiscard]] int damage_indexes() const {
    std::string bytes = read("tune.db");
    int damaged = 0;
    for (std::size_t page = 0; page + kPage <= bytes.size(); page += kPage) {
      if (bytes[page] != 0x0a || bytes.substr(page + 3, 2) == std::string(2, '\0')) continue;  // no leaf of an index, or an empty one
      bytes[page + kPage - 20] = static_cast<char>(bytes[page + kPage - 20] ^ 4);
      ++damaged;
    }
    write("tune.db", bytes);
    return damaged;
  }

  int records = 0;
};

}  // namespace

TEST_CASE_FIXTURE(Hostile,
                  "a flipped bit in the indexes does not stop tuning: the run that meets it or the next one ends well, with every record") {
  REQUIRE(damage_indexes() > 3);
  int exit_code = -1;
  for (int run = 0; run < 2 && exit_code != 0; ++run) exit_code = attune(tune_words({"--retry-failed"})).exit_code;
  CHECK(exit_code == 0);
  const auto after = attune(tune_words({"--retry-failed"}));
  CHECK(after.exit_code == 0);
  CHECK(attune({"db", "check"}).exit_code == 0);
  CHECK(count("records") == records);
}

TEST_CASE_FIXTURE(Hostile, "a trigger, view or table of somebody's has every command refuse the database, and changes nothing") {
  const std::string rows = (folder / "rows.jsonl").string(), own = (folder / "own.db").string();
  REQUIRE(attune({"db", "export", rows}).exit_code == 0);
  const std::string original = read("tune.db");
  for (const std::string& addition :
       {std::string("CREATE TRIGGER t AFTER INSERT ON records BEGIN DELETE FROM records; END"),
        std::string("CREATE TRIGGER t BEFORE INSERT ON records BEGIN SELECT RAISE(IGNORE); END"),
        std::string(
            "ALTER TABLE devices RENAME TO aside; CREATE VIEW devices AS WITH RECURSIVE x(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM x) "
            "SELECT '' AS hard_key, '' AS checksum, '' AS hard_json, '' AS info_json FROM x WHERE i < 0; PRAGMA writable_schema = 1; "
            "UPDATE sqlite_master SET type = 'VIEW' WHERE name = 'devices'")}) {
    CAPTURE(addition);
    write("tune.db", original);
    change(addition);
    const std::string before = read("tune.db");
    for (const auto& words : std::vector<std::vector<std::string>>{tune_words({"--retry-failed"}),
                                                                   {"db", "import", rows},
                                                                   {"db", "merge", database, "--db", own},
                                                                   {"db", "info"},
                                                                   {"db", "check"},
                                                                   {"db", "vacuum"},
                                                                   {"db", "export", "-"},
                                                                   {"show"},
                                                                   {"report", "--output", (folder / "r.html").string()}}) {
      CAPTURE(words);
      std::vector<std::string> limited = {"timeout", "60", ATTUNE_EXECUTABLE};
      limited.insert(limited.end(), words.begin(), words.end());
      const auto result = test::run(limited, environment);
      CHECK_MESSAGE(result.exit_code == 5, result.err);
      CHECK(mentions(result.err, "could run what its author wrote"));
      CHECK(read("tune.db") == before);
    }
    const auto checked = attune({"db", "check", "--json"});  // a machine is told as of any other damage
    CHECK(checked.exit_code == 5);
    const auto report = base::parse_json(checked.out);
    CHECK_FALSE(report["ok"].get<bool>());
    CHECK_FALSE(report["opened"].get<bool>());
    CHECK(mentions(report["problems"].at(0).get<std::string>(), "could run what its author wrote"));
  }
  CHECK_FALSE(fs::exists(folder / "r.html"));
}

TEST_CASE_FIXTURE(
    Cli,
    "what tune takes is exported, and what is exported is imported, whatever its names; what tune cannot keep it refuses at the start") {
  const std::string rows = (folder / "rows.jsonl").string(), other = (folder / "other.db").string();
  const std::string long_name(300, 'n'), long_file = std::string(200, 'd') + "/" + std::string(100, 'f') + ".cuh", latin = "caf\xe9.cuh";
  for (const auto& [name, included] :
       std::vector<std::pair<std::string, std::string>>{{"double_it", latin}, {long_name, ""}, {"double_it", long_file}}) {
    CAPTURE(included);
    for (const std::string& file : {database, rows, other}) fs::remove(file);
    std::string text = test::small_template_json(), source = test::small_template_source();
    text.replace(text.find("\"double_it\"") + 1, 9, name);
    std::map<std::string, std::string> files;
    if (!included.empty()) {
      source = "#include \"" + included + "\"\n" + source;
      fs::create_directories((folder / "double_it" / included).parent_path());
      write("double_it/" + included, "// \xe9\n");
      files[included] = "// \xe9\n";
    }
    files["double_it.cu"] = source;
    write("double_it/template.json", text);
    write("double_it/double_it.cu", source);
    std::string error;
    try {
      test::synthetic_recording(spec::KernelTemplate::parse(text, files, "template.json"),
                                {test::small_problem(1000), test::small_problem(100000)},
                                [](const std::string&, std::uint64_t) { return 5.0; })
          .save(recording);
    } catch (const Error& refusal) {
      error = refusal.what();
    }
    const auto tuned = attune(tune_words());
    CAPTURE(tuned.err);
    if (tuned.exit_code == 0) {
      CHECK(attune({"db", "export", rows}).exit_code == 0);
      CHECK(attune({"db", "import", rows, "--db", other}).exit_code == 0);
    } else {
      CHECK(tuned.exit_code == 3);
      CHECK_FALSE(error.empty());
    }
  }
}

}  // namespace test_hostile_databases
