// Databases that travel: the real executable exports, imports, merges and vacuums real files.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "db/exchange.hpp"
#include "tests/integration/exchange_fixture.hpp"
#include "tests/support/figures.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/zstd.hpp"

namespace test_exchange {

using namespace attune;
using nlohmann::json;
using test::Exchange;
using test::lines_of;
namespace fs = std::filesystem;

namespace {

bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE_FIXTURE(Exchange, "a tuned database, exported and imported elsewhere, exports the same bytes and dispatches the same") {
  const std::string file = (folder / "rows.jsonl").string();
  const auto written = attune({"db", "export", file});
  CAPTURE(written.err);
  REQUIRE(written.exit_code == 0);
  CHECK(mentions(written.out, "2 best"));
  const auto taken = attune({"db", "import", file, "--db", other, "--json"});
  CAPTURE(taken.err);
  REQUIRE(taken.exit_code == 0);
  CHECK(base::parse_json(taken.out)["stored"]["records"] == 2 * space_size);
  CHECK(base::parse_json(taken.out)["stored"]["best"] == 2);
  const std::string again = exported(other);
  CHECK(again == read("rows.jsonl"));
  CHECK_FALSE(mentions(again, folder.path().string()));
  CHECK(attune({"db", "check", "--db", other}).exit_code == 0);
  json here = explained(database), there = explained(other);
  here.erase("layer");
  there.erase("layer");
  CHECK(here == there);
  CHECK(here["tier"] != "default");
  const auto nothing_new = attune({"db", "import", file, "--db", other, "--json"});
  CHECK(base::parse_json(nothing_new.out)["stored"]["records"] == 0);
  test::record_figures(15, "export_import_export",
                       {{"rows", lines_of(again).size() - 2}, {"bytes", again.size()}, {"identical", again == read("rows.jsonl")}});
}

TEST_CASE_FIXTURE(Exchange, "a name that ends in .zst is compressed both ways") {
  const std::string file = (folder / "rows.jsonl.zst").string();
  REQUIRE(attune({"db", "export", file}).exit_code == 0);
  CHECK(base::decompress(read("rows.jsonl.zst"), std::uint64_t{1} << 30) == exported(database));
  REQUIRE(attune({"db", "import", file, "--db", other}).exit_code == 0);
  CHECK(exported(other) == exported(database));
}

TEST_CASE_FIXTURE(Exchange, "databases merge in either order to the same, and twice is once") {
  const std::string one = (folder / "one.db").string(), two = (folder / "two.db").string();
  const std::string left = (folder / "left.db").string(), right = (folder / "right.db").string();
  REQUIRE(attune({"tune", kernel, "--T", "f32", "--size", "1000", "--replay", recording, "--db", one, "--budget", "4"}).exit_code == 0);
  REQUIRE(
      attune({"tune", kernel, "--T", "f32", "--size", "1000,100000", "--replay", recording, "--db", two, "--budget", "5", "--seed", "9"})
          .exit_code == 0);
  REQUIRE(attune({"db", "merge", one, two, "--db", left}).exit_code == 0);
  REQUIRE(attune({"db", "merge", two, one, "--db", right}).exit_code == 0);
  CHECK(exported(left) == exported(right));
  const auto again = attune({"db", "merge", one, two, "--db", left, "--json"});
  CHECK(base::parse_json(again.out)["stored"]["records"] == 0);
  CHECK(exported(left) == exported(right));
  CHECK(base::parse_json(attune({"db", "info", "--json", "--db", left}).out)["cubins"] == 0);
}

TEST_CASE_FIXTURE(Exchange, "what an older version stored and no import takes is left out of an export, with its rows, and told") {
  const std::string before = exported(database);
  const auto with = [](std::string text, const std::string& what, const std::string& by) {
    const std::size_t at = text.find(what);
    REQUIRE(at != std::string::npos);
    return text.replace(at, what.size(), by);
  };
  std::size_t rows = 0;
  // Under another template of this specification and source, as if it had been tuned.
  const auto add_template = [&](const auto& change) {
    auto older = db::Database::open(database, db::OpenMode::ReadWrite);
    db::TemplateRow row = older.templates().at(0);
    const std::string hash = row.hash;
    change(row);
    row.hash = db::content_hash(row);
    db::Database::Batch batch(older);
    older.put(row);
    for (db::BestRow best : older.best({.template_hash = hash})) {
      db::RecordRow record = older.record({hash, std::nullopt, best.problem, best.device_key, best.policy}, best.configuration).value();
      record.template_hash = best.template_hash = row.hash;
      best.template_name = row.name;
      older.put(record);
      older.put(best);
      rows += 2;
    }
    batch.commit();
  };
  add_template([&](db::TemplateRow& row) { row.spec_json = with(row.spec_json, R"("let")", R"("options": ["-lineinfo"], "let")"); });
  const std::string file = (folder / "rows.jsonl").string();
  const auto one = attune({"db", "export", file});
  CAPTURE(one.err);
  REQUIRE(one.exit_code == 0);
  CHECK(mentions(
      one.err,
      "left out: 4 rows of a device or template that is left out or missing, 1 rows that no import takes (the first: the template 'double_it'"));
  CHECK(mentions(one.err, "-lineinfo"));
  CHECK(read("rows.jsonl") == before);
  add_template([&](db::TemplateRow& row) {
    row.name = std::string(300, 'x');
    row.spec_json = with(row.spec_json, "double_it", row.name);
  });
  add_template([](db::TemplateRow& row) { row.files["double_it.cu"] += std::string(std::size_t{17} << 20, '/'); });
  const auto all = attune({"db", "export", file, "--json"});
  CAPTURE(all.err);
  REQUIRE(all.exit_code == 0);
  CHECK(base::parse_json(all.out)["left_out"]["refused"] == 3);
  CHECK(base::parse_json(all.out)["left_out"]["orphaned"] == rows);
  CHECK(read("rows.jsonl") == before);
  REQUIRE(attune({"db", "import", file, "--db", other}).exit_code == 0);
  CHECK(exported(other) == before);
}

TEST_CASE_FIXTURE(Exchange, "an export takes the place of an older one, never of a database, and a full disk leaves nothing") {
  const std::string file = (folder / "rows.jsonl").string();
  write("rows.jsonl", "an older export");
  REQUIRE(attune({"db", "export", file}).exit_code == 0);
  CHECK(lines_of(read("rows.jsonl")).size() > 2 * space_size);
  const auto over = attune({"db", "export", database});
  CHECK(over.exit_code == 2);
  CHECK(mentions(over.err, "it is a database"));
  const auto full = attune({"db", "export", "/dev/full"});
  CHECK(full.exit_code == 4);
  CHECK(mentions(full.err, "ENOSPC"));
  CHECK(fs::is_character_file("/dev/full"));
  const auto nowhere = attune({"db", "export", (folder / "none" / "rows.jsonl").string()});
  CHECK(nowhere.exit_code == 4);
  CHECK(mentions(nowhere.err, "none/rows.jsonl"));
}

TEST_CASE_FIXTURE(Exchange, "vacuum tells the bytes before and after, is refused while another process writes, and creates nothing") {
  const auto done = attune({"db", "vacuum", "--json"});
  CAPTURE(done.err);
  REQUIRE(done.exit_code == 0);
  CHECK(base::parse_json(done.out)["bytes_after"] == fs::file_size(database));
  CHECK(base::parse_json(done.out)["bytes_before"] >= base::parse_json(done.out)["bytes_after"]);
  {
    const auto writer = db::Database::open(database, db::OpenMode::ReadWrite);
    const auto refused = attune({"db", "vacuum"});
    CHECK(refused.exit_code == 5);
    CHECK(mentions(refused.err, "another process is writing to it"));
  }
  CHECK(attune({"db", "vacuum", "--db", other}).exit_code == 5);
  CHECK_FALSE(fs::exists(other));
}

}  // namespace test_exchange
