// What an import refuses although its checksums are right: rows outside the declared space, and a specification that allows anything.
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "db/exchange.hpp"
#include "db/exchange_lines.hpp"
#include "tests/integration/exchange_fixture.hpp"
#include "tests/support/figures.hpp"
#include "tuner/base/hash.hpp"
#include "tuner/base/json.hpp"

namespace test_forged_exports {

using namespace attune;
using nlohmann::json;
using test::lines_of;

namespace {

bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

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

/// The same, with one field of every row of a kind changed.
std::string with_field(const std::string& text, const std::string& kind, const char* field, const json& value) {
  return forged(text, [&](json& row) {
    if (row["kind"] == kind) row[field] = value;
  });
}

struct ForgedExports : test::Exchange {
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

TEST_CASE_FIXTURE(ForgedExports, "a file whose rows lie outside the declared space is refused whole, whatever its checksums say") {
  const std::string text = exported(database);
  const auto change_best = [&](const char* field, const json& value) { return with_field(text, "best", field, value); };
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
  const auto change_record = [&](const char* field, const json& value) { return with_field(text, "record", field, value); };
  expect(change_record("configuration", R"({"block_size":96,"items":1,"waves":1})"), "cannot be 96");
  expect(change_record("median_us", 0.001), "another result");
  expect(change_record("stage", "perfect"), "'stage'");
  expect(change_record("detail_json", "{}"), "failed reading the record");
  expect(with_field(text, "template", "name", "reduce"), "'name'");
  expect(forged(text,
                [](json& row) {
                  if (row["kind"] == "template") row["files"]["evil.cu"] = "";
                }),
         "hash to");
  expect(with_field(text, "template", "spec_json", "{}"), "hash to");
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

TEST_CASE_FIXTURE(ForgedExports, "a forged specification that allows anything has another hash, and dispatch never matches it") {
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

TEST_CASE_FIXTURE(ForgedExports,
                  "a database with a configuration outside the space is not merged, and passed over where it is used itself") {
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

}  // namespace test_forged_exports
