// attune db prune: the real executable removes rows of real files, or says what it would remove.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <set>
#include <string>

#include "db/database.hpp"
#include "tests/integration/exchange_fixture.hpp"
#include "tests/support/conditions.hpp"
#include "tests/support/write_bytes.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/text.hpp"

namespace test_prune {

using namespace attune;
using nlohmann::json;
using test::Exchange;
namespace fs = std::filesystem;

namespace {

bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

constexpr const char* kOld = "2025-01-05T10:00:00Z";

/// What was tuned: everything of n = 100000 in January 2025, everything of n = 1000 now.
struct Aged : Exchange {
  Aged() {
    const auto tuned = db::Database::open(database, db::OpenMode::ReadOnly);
    auto aged = db::Database::open(other, db::OpenMode::ReadWrite);
    const std::string now = base::utc_now();
    const auto date = [&](auto row) {
      row.recorded_at = mentions(row.problem, "100000") ? kOld : now;
      return row;
    };
    for (const auto& row : tuned.devices()) aged.put(row);
    for (const auto& row : tuned.templates()) aged.put(row);
    for (const auto& row : tuned.records({})) aged.put(date(row));
    for (const auto& row : tuned.best({})) aged.put(date(row));
    for (auto row : tuned.sessions({})) {
      if (mentions(row.problem, "100000")) row.started_at = row.finished_at = kOld;
      aged.put(row);
    }
  }
  [[nodiscard]] test::CommandResult prune(const std::vector<std::string>& more, const std::string& path = "") const {
    std::vector<std::string> words = {"db", "prune", "--db", path.empty() ? other : path};
    words.insert(words.end(), more.begin(), more.end());
    return attune(words);
  }
  /// The total of what a command says goes.
  [[nodiscard]] json total(std::vector<std::string> more) const {
    more.emplace_back("--json");
    const auto result = prune(more);
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    return base::parse_json(result.out)["total"];
  }
  [[nodiscard]] db::Info info() const { return db::Database::open(other, db::OpenMode::ReadOnly).info(); }
};

}  // namespace

TEST_CASE_FIXTURE(Aged,
                  "without --yes it says what would go, and not a byte changes; with it exactly that goes, and dispatch goes by the rest") {
  const std::string before = base::read_file(other);
  const auto told = prune({"--older-than", "90d"});
  CAPTURE(told.err);
  REQUIRE(told.exit_code == 0);
  CHECK(mentions(told.out, "double_it"));
  CHECK(mentions(told.out, fmt::format("would remove {} records, 1 best rows, 1 sessions", space_size)));
  CHECK(mentions(told.out, "--yes"));
  CHECK(base::read_file(other) == before);
  const json planned = total({"--older-than", "90d"});
  CHECK(base::read_file(other) == before);
  CHECK(planned["records"] == space_size);
  CHECK(planned["problems"] == 1);
  const auto done = prune({"--older-than", "90d", "--yes"});
  CHECK(done.exit_code == 0);
  CHECK(mentions(done.out, fmt::format("removed {} records, 1 best rows, 1 sessions", space_size)));
  CHECK(mentions(done.out, "attune db vacuum"));
  CHECK(info().best == 1);
  CHECK(info().records == space_size);
  CHECK(info().sessions == 1);
  CHECK(attune({"db", "check", "--db", other}).exit_code == 0);
  CHECK(explained(other)["tier"] == "exact size");
  const auto again = attune({"explain", kernel, "--T", "f32", "--n", "100000", "--device", "sm_90", "--db", other, "--json"});
  CHECK(base::parse_json(again.out)[0]["donor_problem"]["n"] == 1000);
  CHECK(mentions(prune({"--older-than", "90d", "--yes"}).out, "nothing to remove"));
  // What is left travels: no best row without its record.
  const auto exported = attune({"db", "export", "--db", other, (folder / "rows.jsonl").string()});
  CHECK(exported.exit_code == 0);
  CHECK_FALSE(mentions(exported.err, "left out"));
}

TEST_CASE_FIXTURE(Aged, "each condition chooses, and together all must hold") {
  CHECK(total({"--template", "double_it"})["records"] == 2 * space_size);
  CHECK(total({"--template", "double_it", "--older-than", "90d"})["records"] == space_size);
  const std::string key = db::Database::open(other, db::OpenMode::ReadOnly).devices().at(0).hard_key;
  CHECK(total({"--device", key.substr(0, 8)})["best"] == 2);
  CHECK(total({"--older-than", "100y"})["records"] == 0);
  CHECK(total({"--to-size", "100M"})["records"] == 0);
  CHECK(total({"--to-size", "0"})["best"] == 2);
  CHECK(total({"--to-size", "0", "--older-than", "90d"})["best"] == 1);
  // The template is found as it is, then with another content, then not at all.
  CHECK(total({"--superseded", "--template-folder", folder.path().string()})["records"] == 0);
  write("double_it/double_it.cu", read("double_it/double_it.cu") + "// newer\n");
  CHECK(total({"--superseded", "--template-folder", folder.path().string()})["records"] == 2 * space_size);
  const auto unknown = prune({"--superseded"});
  CHECK(unknown.exit_code == 0);
  CHECK(mentions(unknown.out, "nothing to remove"));
  CHECK(mentions(unknown.err, "not found here, so their results stay: double_it"));
}

TEST_CASE_FIXTURE(Aged, "everything may go, and --vacuum makes the file small; tuning into it begins anew") {
  const auto bytes = fs::file_size(other);
  const auto done = prune({"--template", "double_it", "--yes", "--vacuum", "--json"});
  CAPTURE(done.err);
  REQUIRE(done.exit_code == 0);
  const json told = base::parse_json(done.out);
  CHECK(told["removed"] == true);
  CHECK(told["total"]["templates"] == 1);
  CHECK(told["total"]["devices"] == 1);
  CHECK(told["vacuum"]["bytes_after"] < told["vacuum"]["bytes_before"]);
  CHECK(fs::file_size(other) < bytes);
  CHECK(test::lines_of(exported(other)).size() == 2);
  auto words = tune_words({"--db", other});
  CHECK(attune(words).exit_code == 0);
  CHECK(info().best == 2);
}

TEST_CASE_FIXTURE(Aged, "requests that make no sense end with a message that says what would") {
  const auto refused = [&](const std::vector<std::string>& more, int code, const std::string& part) {
    const auto result = prune(more);
    CAPTURE(result.err);
    CHECK(result.exit_code == code);
    CHECK(mentions(result.err, part));
  };
  const std::string before = base::read_file(other);
  refused({}, 2, "no condition");
  refused({"--yes"}, 2, "no condition");
  for (const std::string age : {"90", "d", "-5d", "90m", "1e3d", "0d", "101y", "nand", "90 d", ""}) {
    CAPTURE(age);
    refused({"--older-than=" + age, "--yes"}, 2, "expected an age from 1h to 100y");
  }
  for (const std::string bytes : {"M", "-1M", "200X", "1e400", "2000T", "infM", "200 M", ""}) {
    CAPTURE(bytes);
    refused({"--to-size=" + bytes, "--yes"}, 2, "expected a number of bytes");
  }
  refused({"--template", "nobody", "--yes"}, 2, "has no template \"nobody\"; it has double_it");
  refused({"--device", "nobody", "--yes"}, 2, "no stored device has the key or name 'nobody'; stored: ");
  refused({"--device", "", "--yes"}, 2, "no stored device");
  refused({"--older-than", "1d", "--vacuum"}, 2, "--yes");
  CHECK(base::read_file(other) == before);
}

TEST_CASE_FIXTURE(Aged, "a file that is missing, foreign or shipped is refused, and stays as it is") {
  CHECK(prune({"--older-than", "1d", "--yes"}, (folder / "none.db").string()).exit_code == 5);
  CHECK_FALSE(fs::exists(folder / "none.db"));
  write("foreign.db", "no database at all");
  CHECK(prune({"--older-than", "1d", "--yes"}, (folder / "foreign.db").string()).exit_code == 5);
  CHECK(read("foreign.db") == "no database at all");
  const std::string before = base::read_file(other);
  environment["ATTUNE_SHIPPED_DB"] = other;
  const auto shipped = prune({"--older-than", "1d", "--yes"});
  CHECK(shipped.exit_code == 5);
  CHECK(mentions(shipped.err, "ships with attune"));
  CHECK(base::read_file(other) == before);
}

TEST_CASE_FIXTURE(Aged, "a size below that of a database without rows is told with what that takes, which is what the file has then") {
  CHECK_FALSE(mentions(prune({"--to-size", "200K"}).out, "is not reached"));
  const auto told = prune({"--to-size", "1K", "--yes", "--vacuum", "--json"});
  REQUIRE(told.exit_code == 0);
  const json report = base::parse_json(told.out);
  CHECK(report["goal_missed"] == true);
  CHECK(report["vacuum"]["bytes_after"] == report["least_bytes"]);
  const auto again = prune({"--to-size", "1K"});
  CHECK(mentions(again.out, "--to-size 1K is not reached"));
  CHECK(mentions(again.out, "without any row takes"));
}

TEST_CASE_FIXTURE(Aged, "to a size between that of a file without rows and its own, what fits stays; a size below is told as missed") {
  {
    auto grown = db::Database::open(other, db::OpenMode::ReadWrite);
    db::Database::Batch batch(grown);
    auto row = grown.records({}).at(0);
    row.recorded_at = kOld;
    for (int i = 0; i < 300; ++i) {
      row.configuration = json{{"block_size", 64}, {"items", 1000 + i}}.dump();
      grown.put(row);
    }
    batch.commit();
    grown.export_to(folder / "made.db");
  }
  const std::string made = (folder / "made.db").string();
  const std::uint64_t least = base::parse_json(prune({"--to-size", "0", "--json"}, made).out)["least_bytes"];
  REQUIRE(fs::file_size(made) > 2 * least);
  for (const double times : {1.1, 1.5, 2.0}) {
    CAPTURE(times);
    const auto goal = static_cast<std::uint64_t>(times * static_cast<double>(least));
    fs::copy_file(made, other, fs::copy_options::overwrite_existing);
    const auto done = prune({"--to-size", std::to_string(goal), "--yes", "--vacuum"});
    CAPTURE(done.out);
    CHECK(done.exit_code == 0);
    CHECK(mentions(done.out, "is not reached") == (fs::file_size(other) > goal));
    CHECK(fs::file_size(other) <= goal);
    if (times < 1.2) continue;
    CHECK(info().best == 2);
    CHECK(info().records > 10);
  }
  const auto below = prune({"--to-size", std::to_string(least / 2)}, made);
  CHECK(mentions(below.out, "is not reached"));
  CHECK(mentions(below.out, "a database without any row takes"));
}

TEST_CASE_FIXTURE(Aged, "no command writes into the database that ships, also under another name of it; each says to name a copy") {
  write("rows.jsonl", attune({"db", "export", "--db", other}).out);
  fs::copy_file(other, folder / "third.db");
  const std::string before = base::read_file(other), link = (folder / "link.db").string();
  fs::create_symlink(other, link);
  environment["ATTUNE_SHIPPED_DB"] = other;
  for (const auto& words : std::vector<std::vector<std::string>>{{"db", "vacuum", "--db", other},
                                                                 {"db", "vacuum", "--db", link},
                                                                 {"db", "import", "--db", other, (folder / "rows.jsonl").string()},
                                                                 {"db", "merge", "--db", other, (folder / "third.db").string()},
                                                                 {"renew", "--db", other}}) {
    CAPTURE(words[1]);
    const auto refused = attune(words);
    CHECK(refused.exit_code == 5);
    CHECK(mentions(refused.err, "ships with attune"));
    CHECK(mentions(refused.err, "name the copy"));
  }
  CHECK(base::read_file(other) == before);
  CHECK(attune({"db", "vacuum", "--db", (folder / "third.db").string()}).exit_code == 0);
}

TEST_CASE_FIXTURE(Aged, "a file that may only be read says what would go, and loses nothing") {
  REQUIRE(::chmod(folder.path().c_str(), 0755) == 0);
  REQUIRE(::chmod(other.c_str(), 0444) == 0);
  const test::Unprivileged ordinary;
  CHECK(total({"--older-than", "90d"})["records"] == space_size);
  const auto refused = prune({"--older-than", "90d", "--yes"});
  CAPTURE(refused.err);
  CHECK(refused.exit_code == 5);
  CHECK(mentions(refused.err, other));
  CHECK(info().records == 2 * space_size);
}

TEST_CASE_FIXTURE(Aged, "a killed command leaves all rows, or all but those that were to go") {
  auto grown = db::Database::open(other, db::OpenMode::ReadWrite);
  {
    db::Database::Batch batch(grown);
    auto row = grown.records({}).at(0);
    row.recorded_at = kOld;
    for (int i = 0; i < 20000; ++i) {
      row.configuration = json{{"block_size", 64}, {"items", 1000 + i}}.dump();
      grown.put(row);
    }
    batch.commit();
  }
  grown.export_to(folder / "made.db");
  const std::string made = base::read_file(folder / "made.db");
  const auto all = grown.info().records;
  std::set<std::uint64_t> left;
  for (const char* after : {"0.01", "0.05", "0.1", "0.2", "0.3", "0.5", "5"}) {
    CAPTURE(after);
    const std::string path = (folder / (std::string("killed") + after + ".db")).string();
    attune::test::write_bytes(path, made);
    (void)test::run({"timeout", "-s", "KILL", after, ATTUNE_EXECUTABLE, "db", "prune", "--db", path, "--older-than", "90d", "--yes"},
                    environment);
    CHECK(attune({"db", "check", "--db", path}).exit_code == 0);
    const auto info = db::Database::open(path, db::OpenMode::ReadOnly).info();
    CHECK((info.records == all || info.records == space_size));
    CHECK(info.best == (info.records == all ? 2 : 1));
    left.insert(info.records);
  }
  CHECK(left == std::set<std::uint64_t>{space_size, all});
}

}  // namespace test_prune
