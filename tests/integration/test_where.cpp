// `attune tune --where`: a search of a part of the space.
#include <doctest/doctest.h>

#include "db/database.hpp"
#include "tests/integration/cli_fixture.hpp"
#include "tuner/base/json.hpp"

namespace test_where {

using namespace attune;
using nlohmann::json;
using test::Cli;

namespace {

std::vector<db::RecordRow> records_of(const Cli& cli) { return db::Database::open(cli.database, db::OpenMode::ReadOnly).records({}); }

}  // namespace

TEST_CASE_FIXTURE(Cli, "only configurations that satisfy every --where are tried") {
  const auto result = attune(tune_words({"--where", "block_size == 256", "--where", "items < 4 or waves == 2"}));
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  const auto stored = records_of(*this);
  CHECK(stored.size() == 2 * 5);  // two sizes; items 1 and 2 with both waves, items 4 with one
  for (const auto& row : stored) {
    const json configuration = base::parse_json(row.configuration);
    CHECK(configuration["block_size"] == 256);
    CHECK((configuration["items"] < 4 || configuration["waves"] == 2));
  }
}

TEST_CASE_FIXTURE(Cli, "a search under a condition keeps a better best of before, and says what it found itself") {
  REQUIRE(attune(tune_words()).exit_code == 0);
  const json before = base::parse_json(attune({"show", "--json"}).out);
  // The fastest takes 5 us (the first of the enumeration has i = 0); with block_size = 512 every one takes longer.
  const auto result = attune(tune_words({"--where", "block_size == 512"}));
  CHECK(result.exit_code == 0);
  CHECK(result.out.find("under these conditions") != std::string::npos);
  CHECK(base::parse_json(attune({"show", "--json"}).out) == before);
}

TEST_CASE_FIXTURE(Cli, "the whole search goes on from what a search under a condition stored") {
  REQUIRE(attune(tune_words({"--where", "block_size == 512"})).exit_code == 0);
  const auto kept = records_of(*this).size();
  REQUIRE(kept > 0);
  const auto whole = attune(tune_words({"--json"}));
  std::uint64_t reused = 0, measured = 0;
  std::size_t start = 0;
  for (std::size_t end = whole.out.find('\n'); end != std::string::npos; start = end + 1, end = whole.out.find('\n', start)) {
    const json event = base::parse_json(whole.out.substr(start, end - start));
    if (event["event"] != "problem") continue;
    reused += event["reused"].get<std::uint64_t>();
    measured += event["measured"].get<std::uint64_t>();
  }
  CHECK(reused == kept);
  CHECK(reused + measured == 2 * space_size);
}

TEST_CASE_FIXTURE(Cli, "events tell the conditions, and how many configurations they leave") {
  const auto result = attune(tune_words({"--json", "--where", "block_size == 512"}));
  REQUIRE(result.exit_code == 0);
  CHECK(base::parse_json(result.out.substr(0, result.out.find('\n')))["where"] == json::array({"block_size == 512"}));
  const auto at = result.out.find("\"restricted\"");
  REQUIRE(at != std::string::npos);
  const auto line = result.out.rfind('\n', at) + 1;
  const json problem = base::parse_json(result.out.substr(line, result.out.find('\n', at) - line));
  CHECK(problem["restricted"]["size"] == 4);  // items 1 and 2: 512 * 4 is over the template's limit of 1024
  CHECK(problem["restricted"]["configuration"]["block_size"] == 512);
}

TEST_CASE_FIXTURE(Cli, "a condition that cannot be read names its place and stores nothing") {
  struct Case {
    const char* text;
    const char* place;
    const char* said;
  };
  for (const Case& wrong :
       {Case{"block_size == ", "--where:1:15", ""}, Case{"items > 1 and blok_size == 64", "--where:1:15", "did you mean 'block_size'?"},
        Case{"in == 1", "--where:1:", ""}, Case{"grid == 1", "--where:1:1", "let"}}) {
    CAPTURE(wrong.text);
    const auto result = attune(tune_words({"--where", wrong.text}));
    CAPTURE(result.err);
    CHECK(result.exit_code == 3);
    CHECK(result.err.find(wrong.place) != std::string::npos);
    CHECK(result.err.find(wrong.said) != std::string::npos);
  }
  CHECK_FALSE(std::filesystem::exists(database));
}

TEST_CASE_FIXTURE(Cli, "a condition that nothing satisfies is named with its place and what would have been possible") {
  const auto result = attune(tune_words({"--where", "items > 0", "--where", "block_size == 100"}));
  CAPTURE(result.err);
  CHECK(result.exit_code == 6);
  CHECK(result.err.find("--where (2):1:1") != std::string::npos);
  CHECK(result.err.find("\"block_size == 100\"") != std::string::npos);
  CHECK(result.err.find("block_size: 64, 128, 256, 512") != std::string::npos);
}

}  // namespace test_where
