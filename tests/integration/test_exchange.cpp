// Databases that travel: the real executable exports, imports, merges and vacuums real files.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "db/exchange.hpp"
#include "db/exchange_lines.hpp"
#include "tests/integration/cli_fixture.hpp"
#include "tests/support/figures.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/hash.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/zstd.hpp"

namespace test_exchange {

using namespace attune;
using nlohmann::json;
using test::Cli;
namespace fs = std::filesystem;

namespace {

bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

json object_of(const std::string& line) {
  json object = base::parse_json(line);
  object.erase("checksum");
  return object;
}

/// An export whose rows `change` has edited, with checksums, count and digest made to match: what a forger would send.
template <class Change>
std::string forged(const std::string& text, Change&& change) {
  base::ContentHasher digest;
  std::string result;
  for (const std::string& line : lines_of(text)) {
    json object = object_of(line);
    if (object["kind"] == "end") {
      object["digest"] = digest.key();
    } else if (object["kind"] != "header") {
      change(object);
    }
    const std::string body = base::dump_json(object), checksum = base::content_key(body);
    if (object["kind"] != "header" && object["kind"] != "end") digest.add(checksum);
    result += R"({"checksum":")" + checksum + "\"," + body.substr(1) + "\n";
  }
  return result;
}

struct Exchange : Cli {
  std::string other = (folder / "other.db").string();

  Exchange() { REQUIRE(attune(tune_words()).exit_code == 0); }

  /// What a database exports.
  std::string exported(const std::string& path) const {
    const auto result = attune({"db", "export", "--db", path});
    CAPTURE(result.err);
    CHECK(result.exit_code == 0);
    return result.out;
  }
  /// What dispatch would use of a database for n = 1000.
  json explained(const std::string& path) const {
    const auto result = attune({"explain", kernel, "--T", "f32", "--n", "1000", "--device", "sm_90", "--db", path, "--json"});
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    return base::parse_json(result.out).at(0);
  }
  [[nodiscard]] bool nothing_stored() const { return lines_of(exported(other)).size() == 2; }  // header and end
  /// The message with which a file is refused.
  std::string refused(const std::string& text) const {
    write("forged.jsonl", text);
    const auto result = attune({"db", "import", (folder / "forged.jsonl").string(), "--db", other});
    CHECK(result.exit_code == 3);
    CHECK(mentions(result.err, "forged.jsonl:"));
    return result.err;
  }
};

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

TEST_CASE_FIXTURE(Exchange, "a file whose rows lie outside the declared space is refused whole, whatever its checksums say") {
  const std::string text = exported(database);
  const auto change_best = [&](const char* field, const json& value) {
    return forged(text, [&](json& row) {
      if (row["kind"] == "best") row[field] = value;
    });
  };
  std::size_t files = 0, refusals = 0;
  const auto expect = [&](const std::string& file, const std::string& part) {
    const std::string message = refused(file);
    CAPTURE(message);
    CHECK(mentions(message, part));
    ++files;
    refusals += mentions(message, part) ? 1 : 0;
  };
  expect(change_best("configuration", R"({"block_size":96,"items":1,"waves":1})"), "cannot be 96");
  expect(change_best("configuration", R"({"block_size":64,"items":1})"), "lacks the parameter 'waves'");
  expect(change_best("configuration", R"({"block_size":64,"items":1,"shell":"rm","waves":1})"), "no parameter 'shell'");
  expect(change_best("configuration", R"({"block_size":512,"items":4,"waves":1})"), "violates a constraint");
  expect(change_best("configuration", R"({"block_size":64.0,"items":1,"waves":1})"), "canonical");
  expect(change_best("configuration", "none"), "it is no JSON");
  expect(change_best("problem", R"({"T":"f16","n":1000})"), "cannot be 'f16'");
  expect(change_best("problem", R"({"T":"f32","n":-5})"), "cannot be -5");
  expect(change_best("family", R"({"T":"f64"})"), "'family'");
  expect(change_best("sizes_json", R"({"n":7})"), "'sizes_json'");
  expect(change_best("template_name", "reduce"), "'template_name'");
  expect(change_best("policy", "lukewarm/graph"), "lukewarm");
  expect(change_best("detail_json", R"({"rounds_us":"many"})"), "'rounds_us'");
  expect(change_best("detail_json", std::string(1000, '[')), "'detail_json'");
  expect(change_best("cubin_key", "cafe"), "does not know");
  const auto change_record = [&](const char* field, const json& value) {
    return forged(text, [&](json& row) {
      if (row["kind"] == "record") row[field] = value;
    });
  };
  expect(change_record("configuration", R"({"block_size":96,"items":1,"waves":1})"), "cannot be 96");
  expect(change_record("median_us", 0.001), "another result");
  expect(change_record("stage", "perfect"), "'stage'");
  expect(change_record("detail_json", "{}"), "failed reading the record");
  expect(forged(text,
                [](json& row) {
                  if (row["kind"] == "template") row["name"] = "reduce";
                }),
         "'name'");
  expect(forged(text,
                [](json& row) {
                  if (row["kind"] == "template") row["files"]["evil.cu"] = "";
                }),
         "hash to");
  expect(forged(text,
                [](json& row) {
                  if (row["kind"] == "template") row["spec_json"] = "{}";
                }),
         "hash to");
  expect(forged(text,
                [](json& row) {
                  if (row["kind"] != "device") return;
                  json info = base::parse_json(row["info_json"].get<std::string>());
                  info["sm_count"] = 1;
                  row["info_json"] = base::dump_json(info);
                }),
         "'hard_json'");
  const std::size_t stored = lines_of(exported(other)).size() - 2;
  CHECK(stored == 0);
  test::record_figures(15, "forged_imports", {{"forged_files", files}, {"refused", refusals}, {"rows_stored", stored}});
}

TEST_CASE_FIXTURE(Exchange, "a forged specification that allows anything has another hash, and dispatch never matches it") {
  const std::string text = exported(database), outside = R"({"block_size":32,"items":1,"waves":1})";
  std::set<std::string> winners;
  (void)forged(text, [&](json& row) {
    if (row["kind"] == "best") winners.insert(row["configuration"]);
  });
  std::string hash;
  const std::string file = forged(text, [&](json& row) {
    if (row["kind"] == "template") {
      db::TemplateRow changed{"", row["name"], row["spec_json"], row["files"]};
      const std::size_t at = changed.spec_json.find("[64, 128, 256, 512]");
      changed.spec_json.replace(at, 3, "[32, 64");
      hash = db::content_hash(changed);
      row["spec_json"] = changed.spec_json;
      row["hash"] = hash;
    } else if (row.contains("template_hash")) {
      row["template_hash"] = hash;
      if (row["kind"] == "best") row["configuration"] = outside;
      if (row["kind"] != "record" || !winners.contains(row["configuration"])) return;
      row["configuration"] = outside;
      json detail = base::parse_json(row["detail_json"].get<std::string>());
      detail["configuration"] = outside;
      row["detail_json"] = base::dump_json(detail);
    }
  });
  write("forged.jsonl", file);
  const auto result = attune({"db", "import", (folder / "forged.jsonl").string(), "--db", other});
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  const json decision = explained(other);
  CHECK(decision["tier"] == "default");
  CHECK(mentions(base::dump_json(decision["passed_over"]), "another version of the template"));
}

TEST_CASE_FIXTURE(Exchange, "a database with a configuration outside the space is not merged, and passed over where it is used itself") {
  {
    auto forgery = db::Database::open(database, db::OpenMode::ReadWrite);
    for (db::BestRow row : forgery.best({})) {
      const db::Query query{row.template_hash, std::nullopt, row.problem, row.device_key, row.policy};
      db::RecordRow record = forgery.record(query, row.configuration).value();
      record.configuration = row.configuration = R"({"block_size":4096,"items":1,"waves":1})";
      row.recorded_at = "2026-11-01T00:00:00Z";
      forgery.put(record);
      forgery.put(row);
    }
  }
  const auto merged = attune({"db", "merge", database, "--db", other});
  CHECK(merged.exit_code == 3);
  CHECK(mentions(merged.err, "tune.db: the record of"));
  CHECK(mentions(merged.err, "cannot be 4096"));
  CHECK(nothing_stored());
  const json decision = explained(database);
  CHECK(decision["tier"] == "default");
  CHECK(mentions(base::dump_json(decision["passed_over"]), "not in the template's space"));
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

TEST_CASE_FIXTURE(Cli, "the working directory is never a store: relative XDG folders and an empty HOME are not used") {
  const std::string work = (folder / "work").string();
  fs::create_directory(work);
  const auto in_work = [&](const std::string& home, const std::string& words) {
    return test::run({"sh", "-c", "cd '" + work + "' && exec '" ATTUNE_EXECUTABLE "' " + words},
                     {{"HOME", home},
                      {"XDG_DATA_HOME", "data"},
                      {"XDG_CACHE_HOME", "."},
                      {"ATTUNE_DB", ""},
                      {"ATTUNE_TEMPLATES", ""},
                      {"ATTUNE_SHIPPED_DB", (folder / "no-shipped.db").string()}});
  };
  const std::string tune = "tune '" + kernel + "' --T f32 --size 1000 --replay '" + recording + "'";
  const std::string home = (folder / "home").string();
  const auto path = in_work(home, "db path");
  CHECK(path.out == home + "/.local/share/attune/attune.db\n");
  for (const std::string nowhere : {"", "relative"}) {
    CAPTURE(nowhere);
    CHECK(in_work(nowhere, "db path").exit_code == 5);
    (void)in_work(nowhere, tune);
    (void)in_work(nowhere, "explain '" + kernel + "' --T f32 --n 1000 --device sm_90");
    CHECK(fs::is_empty(work));
  }
  REQUIRE(in_work(home, tune).exit_code == 0);
  CHECK(fs::is_empty(work));
  CHECK(fs::exists(home + "/.local/share/attune/attune.db"));
}

TEST_CASE_FIXTURE(Cli, "folders are made for the user alone, and no file of the database for others to write, under any umask") {
  const std::string home = (folder / "home").string();
  const auto result = test::run(
      {"sh", "-c", "umask 000 && exec '" ATTUNE_EXECUTABLE "' tune '" + kernel + "' --T f32 --size 1000 --replay '" + recording + "'"},
      {{"HOME", home}, {"XDG_DATA_HOME", ""}, {"XDG_CACHE_HOME", ""}, {"ATTUNE_DB", ""}, {"ATTUNE_TEMPLATES", ""}});
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  // Still open, so that the files beside it are there too.
  const auto writer = db::Database::open(home + "/.local/share/attune/attune.db", db::OpenMode::ReadWrite);
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(home)) {
    CAPTURE(entry.path().string());
    if (entry.is_directory()) {
      CHECK(entry.status().permissions() == fs::perms::owner_all);
    } else {
      ++files;
      CHECK((entry.status().permissions() & (fs::perms::group_write | fs::perms::others_write)) == fs::perms::none);
    }
  }
  CHECK(files >= 2);
}

}  // namespace test_exchange
