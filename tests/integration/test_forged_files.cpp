// Exchange files that were edited by rule: every line removed, doubled and swapped, every field of every kind of row changed,
// with and without checksums, counts and digest made to match.
#include <doctest/doctest.h>

#include <set>

#include "db/exchange.hpp"
#include "tests/integration/forgery_fixture.hpp"
#include "tests/support/exchange_files.hpp"
#include "tests/support/figures.hpp"
#include "tuner/base/json.hpp"
#include "tuner/session/tune/exchange_rules.hpp"

namespace test_forged_files {

using namespace attune;
using namespace attune::test;
using nlohmann::json;

namespace {

/// Whether each row comes behind the device and the template that it refers to.
bool has_owners_first(const Lines& lines) {
  std::set<std::string> owners;
  for (const std::string& line : lines) {
    const json object = object_of(line);
    for (const char* key : {"hard_key", "hash"}) {
      if (object.contains(key)) owners.insert(object[key]);
    }
    for (const char* reference : {"device_key", "template_hash"}) {
      if (object.contains(reference) && !owners.contains(object[reference])) return false;
    }
  }
  return true;
}

/// Files of a forger, and what became of them.
struct ForgedByRule : Forgery {
  int files = 0, refused = 0;
  std::set<std::string> taken;  ///< what was taken, by the name of its edit

  /// Imports into a database of its own. Whatever is refused stores nothing and names a line; whatever is taken comes out again
  /// as it went in, and each of its best rows has a verified record.
  void give(const std::string& name, const std::string& text) { give(name, text, text); }
  /// `expected`: what comes out, of rows in another order.
  void give(const std::string& name, const std::string& text, const std::string& expected) {
    CAPTURE(name);
    ++files;
    write("forged.jsonl", text);
    auto target = db::Database::open_in_memory();
    session::ExchangeRules rules;
    try {
      (void)db::test::import_file(target, folder / "forged.jsonl", rules);
    } catch (const SpecError& error) {
      ++refused;
      CHECK(error.line() > 0);
      CHECK(target.info().devices + target.info().templates + target.info().records + target.info().best + target.info().sessions == 0);
      return;
    }
    taken.insert(name);
    std::string again;
    const auto report = db::export_lines(
        target, [&](const std::string& line) { again += line + "\n"; }, rules);
    CHECK(again == expected);
    CHECK(report.left_out.unverified + report.left_out.orphaned + report.left_out.unsourced + report.left_out.damaged +
              report.left_out.refused ==
          0);
    for (const auto& best : target.best({})) {
      const auto record = target.record({best.template_hash, std::nullopt, best.problem, best.device_key, best.policy}, best.configuration);
      CHECK((record && db::is_verified(*record)));
    }
  }
};

/// What a field may be changed into, whatever it was.
std::vector<std::pair<std::string, json>> edits_of(const json& value) {
  std::vector<std::pair<std::string, json>> edits{{"null", nullptr},
                                                  {"list", json::array({value})},
                                                  {"object", json{{"a", value}}},
                                                  {"empty", ""},
                                                  {"word", "word"},
                                                  {"long", std::string(5000, 'x')},
                                                  {"control", "a\x1b[2Jb\n"},
                                                  {"base16 of text", json{{"base16", "6162"}}},
                                                  {"base16 of bytes", json{{"base16", "ff00"}}},
                                                  {"base16 of nothing", json{{"base16", "zz"}}},
                                                  {"minus one", -1},
                                                  {"half", 0.5},
                                                  {"great", 1e300},
                                                  {"true", true},
                                                  {"2^64 - 1", 18446744073709551615u}};
  if (value.is_string()) {
    const std::string text = value;
    edits.emplace_back("one more", text + " ");
    if (!text.empty()) edits.emplace_back("one less", text.substr(0, text.size() - 1));
  }
  if (value.is_number_float()) edits.emplace_back("a little more", value.get<double>() * 1.25);
  if (value.is_number_unsigned()) edits.emplace_back("one more", value.get<std::uint64_t>() + 1);
  if (value.is_boolean()) edits.emplace_back("the other", !value.get<bool>());
  std::erase_if(edits, [&](const auto& edit) { return edit.second == value; });
  return edits;
}

}  // namespace

TEST_CASE_FIXTURE(ForgedByRule,
                  "any line that is removed, doubled, swapped, cut or changed in one byte, without more ado, has the file refused") {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string at = " line " + std::to_string(i + 1);
    Lines fewer = lines, twice = lines;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    twice.insert(twice.begin() + static_cast<std::ptrdiff_t>(i), lines[i]);
    give("without" + at, joined(fewer));
    give("twice" + at, joined(twice));
    if (i + 1 < lines.size()) {
      Lines moved = lines;
      std::swap(moved[i], moved[i + 1]);
      give("swapped" + at, joined(moved));
    }
    for (std::size_t at_byte = 0; at_byte < lines[i].size(); at_byte += 1 + lines[i].size() / 12) {
      Lines changed = lines;
      changed[i][at_byte] = static_cast<char>(changed[i][at_byte] ^ 1);
      give("byte " + std::to_string(at_byte) + at, joined(changed));
    }
    Lines cut = lines;
    cut[i].resize(cut[i].size() / 2);
    give("half of" + at, joined(cut));
  }
  CHECK(taken.empty());
  CHECK(files == refused);
}

TEST_CASE_FIXTURE(ForgedByRule, "a row that a forger removes is missed where another needs it") {
  for (std::size_t i = 1; i + 1 < lines.size(); ++i) {
    const json object = object_of(lines[i]);
    const std::string kind = object["kind"];
    Lines fewer = lines;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    const json best = object_of(lines[first("best")]);
    const bool of_best = kind == "record" && object["configuration"] == best["configuration"];
    const bool needed = kind == "device" || kind == "template" || of_best;
    const std::string name = "without " + kind + " " + std::to_string(i + 1);
    give(name, closed(fewer));
    CHECK(taken.contains(name) == !needed);
  }
}

TEST_CASE_FIXTURE(ForgedByRule, "a row that a forger doubles is refused, wherever the second one stands") {
  for (std::size_t i = 1; i + 1 < lines.size(); ++i) {
    for (const std::size_t at : {i + 1, lines.size() - 1}) {
      Lines twice = lines;
      twice.insert(twice.begin() + static_cast<std::ptrdiff_t>(at), lines[i]);
      give("line " + std::to_string(i + 1) + " twice, at " + std::to_string(at + 1), closed(twice));
    }
  }
  CHECK(taken.empty());
  CHECK(files == refused);
}

TEST_CASE_FIXTURE(ForgedByRule,
                  "rows that a forger swaps are refused where one comes before its device or template, and else come out in their order") {
  for (std::size_t i = 1; i + 1 < lines.size(); ++i) {
    for (std::size_t k = i + 1; k + 1 < lines.size(); ++k) {
      Lines moved = lines;
      std::swap(moved[i], moved[k]);
      const std::string name = "lines " + std::to_string(i + 1) + " and " + std::to_string(k + 1) + " swapped";
      give(name, closed(moved), joined(lines));
      CHECK(taken.contains(name) == has_owners_first(moved));
    }
  }
  CHECK(refused > 0);
  CHECK(refused < files);
}

TEST_CASE_FIXTURE(ForgedByRule,
                  "every field of every kind of row is changed in every way, and only what names nothing and decides nothing is taken") {
  // Field by field, what a forger may say of what was measured, where, when and with what: it is his word. All else is refused.
  const std::set<std::string> free{"session.key",     "session.strategy", "session.seed",   "session.space_size", "session.summary_json",
                                   "record.driver",   "record.nvrtc",     "record.origin",  "best.driver",        "best.median_us",
                                   "best.default_us", "best.tie",         "best.objective", "best.nvrtc",         "best.detail_json"};
  std::set<std::string> surprising;
  for (const char* kind : {"device", "template", "session", "record", "best"}) {
    const std::size_t at = first(kind);
    const json row = object_of(lines[at]);
    for (const auto& [field, value] : row.items()) {
      const std::string what = std::string(kind) + "." + field;
      const auto try_row = [&](const std::string& edit, const json& changed) {
        Lines forged = lines;
        forged[at] = sealed(changed);
        give(what + ": " + edit, closed(forged));
        if (taken.contains(what + ": " + edit) && !free.contains(what)) surprising.insert(what + ": " + edit);
      };
      json without = row, renamed = row;
      without.erase(field);
      try_row("removed", without);
      renamed.erase(field);
      renamed[field + "_"] = value;
      try_row("renamed", renamed);
      for (const auto& [edit, other] : edits_of(value)) {
        json changed = row;
        changed[field] = other;
        if (field != "kind") try_row(edit, changed);
      }
    }
    json more = row;
    more["more"] = 1;
    Lines forged = lines;
    forged[at] = sealed(more);
    give(std::string(kind) + " with one field more", closed(forged));
  }
  for (const std::string& name : surprising) {
    CAPTURE(name);
    CHECK(name.empty());
  }
  CHECK(files > 700);
  CHECK(refused > files / 2);
  test::record_figures(15, "forged_by_rule",
                       {{"files", files}, {"refused", refused}, {"taken", taken.size()}, {"surprising", surprising.size()}});
}

}  // namespace test_forged_files
