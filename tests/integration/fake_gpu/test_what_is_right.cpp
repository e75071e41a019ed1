// What a template says is right: how far an output may be off, an input that may change, and nothing at all.
#include <doctest/doctest.h>

#include <filesystem>

#include "db/database.hpp"
#include "tests/integration/fake_gpu/fake_gpu.hpp"
#include "tests/support/replaced.hpp"
#include "tests/support/write_bytes.hpp"
#include "tuner/base/files.hpp"

namespace test_what_is_right {

using namespace attune;
using nlohmann::json;
using test::FakeGpu;
using test::replaced;

namespace {

constexpr const char* kReference = R"("reference": {"launches")";

/// The templates of the fake driver's kernels, changed.
struct Told : FakeGpu {
  void write(const std::string& name, const std::string& from, const std::string& to) const {
    const std::string source = std::string(ATTUNE_SOURCE_DIR) + "/tests/support/fake_templates/" + name + "/";
    std::filesystem::create_directory(folder / name);
    test::write_bytes(folder / name / "template.json", replaced(base::read_file(source + "template.json"), from, to));
    test::write_bytes(folder / name / (name + ".cu"), base::read_file(source + name + ".cu"));
  }
  /// The outcome of every fault of `synthetic`, of 1,000 elements.
  [[nodiscard]] std::map<std::string, std::string> outcomes() const {
    auto words =
        tune_words("matrix", {"--where", "fault in ['none', 'wrong_result', 'partial_write', 'out_of_bounds_write', 'input_write']"});
    words[1] = (folder / "synthetic").string();
    const auto result = attune(words);
    CAPTURE(result.err);
    CHECK(result.exit_code == 0);
    std::map<std::string, std::string> found;
    for (const auto& record : records()) found[test::configuration_of(record)["fault"]] = record.outcome;
    return found;
  }
};

/// A template whose kernels have no reference.
struct Unreferenced : Told {
  Unreferenced() {
    const std::string all = base::read_file(std::string(ATTUNE_SOURCE_DIR) + "/tests/support/fake_templates/brief/template.json");
    const std::size_t begin = all.find(kReference), end = all.find("\n", begin);
    write("brief", all.substr(begin, end - begin), "\"reference\": \"none\",");
    problem = {(folder / "brief").string(), "--T", "i32", "--end", "well", "--n", "1000"};
  }
  [[nodiscard]] test::CommandResult run(const std::string& command, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{command};
    words.insert(words.end(), problem.begin(), problem.end());
    words.insert(words.end(), {"--db", database});
    words.insert(words.end(), more.begin(), more.end());
    return attune(words);
  }
  std::vector<std::string> problem;
};

}  // namespace

TEST_CASE_FIXTURE(Told, "a share of the elements may be wrong where the template says so, and no larger one") {
  write("synthetic", R"("args": ["in", "out", "n"]}]})", R"("args": ["in", "out", "n"]}], "tolerance": {"mismatches": 0.01}})");
  const auto found = outcomes();
  CHECK(found.at("wrong_result") == "ok");  // one element
  CHECK(found.at("partial_write") == "wrong_result");
  CHECK(found.at("out_of_bounds_write") == "wrong_result");
  CHECK(found.at("input_write") == "wrong_result");
}

TEST_CASE_FIXTURE(Told, "an input that may change is no fault, and others still are") {
  write("synthetic", R"("in": {"type": "T", "count": "n"})", R"("in": {"type": "T", "count": "n", "may_change": true})");
  const auto found = outcomes();
  CHECK(found.at("input_write") == "ok");
  CHECK(found.at("wrong_result") == "wrong_result");
  CHECK(found.at("out_of_bounds_write") == "wrong_result");
}

TEST_CASE_FIXTURE(Unreferenced, "without a reference the fastest wins, unverified, and is dispatched only where that is asked for") {
  const auto tuned = run("tune");
  CAPTURE(tuned.err);
  CHECK(tuned.exit_code == 0);
  CHECK(tuned.out.find("(unverified)") != std::string::npos);
  CHECK(tuned.err.find("is unverified, as all of it: the template has no reference") != std::string::npos);
  for (const auto& record : records()) CHECK_FALSE(record.verified);
  const auto rows = db::Database::open(database, db::OpenMode::ReadOnly).best({});
  REQUIRE(rows.size() == 1);
  CHECK(rows.front().objective == db::kUnverifiedTime);
  CHECK(rows.front().configuration == R"({"block_size":256,"waves":2})");

  const json usual = json::parse(run("explain", {"--json"}).out).front();
  CHECK(usual.at("tier") == "default");
  CHECK(usual.at("passed_over").dump().find("1 result(s) are unverified") != std::string::npos);
  const json asked = json::parse(run("explain", {"--json", "--unverified"}).out).front();
  CHECK(asked.at("tier") == "exact size");
  CHECK(asked.at("unverified") == true);
  CHECK(asked.at("configuration").dump() == rows.front().configuration);
}

TEST_CASE_FIXTURE(Unreferenced, "a ladder of a template without a reference says that nothing of it is verified") {
  test::write_bytes(folder / "brief/ladder.json", R"({"attune_ladder": 1, "defaults": {"T": "i32", "end": "well"}, "rungs": [
    {"name": "one wave", "why": "one", "where": "waves == 1"}, {"name": "two waves", "why": "two", "where": "waves == 2"}]})");
  const auto table = run("ladder");
  CAPTURE(table.err);
  CHECK(table.exit_code == 0);
  CHECK(table.out.find("unverified, all of it: the template has no reference") != std::string::npos);
  const std::string told = run("ladder", {"--json"}).out;
  CHECK(told.find("\"verified\":false") != std::string::npos);
  CHECK(told.find("\"verified\":true") == std::string::npos);
}

TEST_CASE_FIXTURE(Unreferenced, "a winner that nothing vouches for is known to later runs, and stays in its database") {
  CHECK(run("tune").exit_code == 0);
  const std::size_t stored = records().size();
  const auto again = run("tune");
  CHECK(again.exit_code == 0);
  CHECK(again.out.find("0 configurations measured") != std::string::npos);
  CHECK(records().size() == stored);
  const std::string other = (folder / "other.db").string();
  const auto merged = attune({"db", "merge", database, "--db", other});
  CAPTURE(merged.err);
  CHECK(merged.exit_code == 0);
  const auto database_of_others = db::Database::open(other, db::OpenMode::ReadOnly);
  CHECK(database_of_others.records({}).size() == stored);
  CHECK(database_of_others.best({}).empty());
}

}  // namespace test_what_is_right
