#include <doctest/doctest.h>

#include <fstream>

#include "attune/error.hpp"
#include "bench/support/score_table.hpp"
#include "bench/support/standing.hpp"
#include "tests/support/temp_folder.hpp"
#include "tuner/base/files.hpp"

namespace test_score_table {

using namespace attune;
using bench::Json;

namespace {

Json row(const std::string& file, const std::string& strategy, bool warm, double score, const std::string& content = "now") {
  return {{"file", file}, {"strategy", strategy}, {"warm", warm}, {"content", content}, {"score", score}};
}

struct Table {
  test::TempFolder folder;
  std::filesystem::path path = folder / "scores.json";

  [[nodiscard]] bench::ScoreTable read() const { return {path, "search_score"}; }
};

}  // namespace

TEST_CASE_FIXTURE(Table, "a row takes the place of the one of its name, and the others stay as they are") {
  auto first = read();
  first.put(row("a", "model", false, 0.5));
  first.put(row("a", "model", true, 0.75));
  first.put(row("b", "model", false, 0.25));
  first.write({{"version", "1"}});
  auto second = read();
  second.put(row("a", "model", false, 0.625, "later"));
  second.put(row("a", "local", false, -0.5));
  second.write({{"version", "2"}});
  const Json file = bench::parse_json(base::read_file(path));
  CHECK(file["bench"] == "search_score");
  CHECK(file["version"] == "2");
  CHECK(file["rows"] == Json{row("a", "local", false, -0.5), row("a", "model", false, 0.625, "later"), row("a", "model", true, 0.75),
                             row("b", "model", false, 0.25)});
}

TEST_CASE_FIXTURE(Table, "the same rows give the same bytes, in whatever order they came") {
  auto table = read();
  table.put(row("b", "model", false, 0.25));
  table.put(row("a", "model", false, 0.5));
  table.write({{"version", "1"}});
  const std::string bytes = base::read_file(path);
  auto again = bench::ScoreTable(folder / "again.json", "search_score");
  again.put(row("a", "model", false, 0.5));
  again.put(row("b", "model", false, 0.25));
  again.write({{"version", "1"}});
  CHECK(base::read_file(folder / "again.json") == bytes);
}

TEST_CASE_FIXTURE(Table, "a row holds for its own conditions alone") {
  auto table = read();
  table.put(row("a", "model", false, 0.5));
  const Json conditions{{"file", "a"}, {"strategy", "model"}, {"warm", false}, {"content", "now"}};
  CHECK(table.has(conditions));
  for (const auto& [member, other] : std::vector<std::pair<std::string, Json>>{
           {"file", "b"}, {"strategy", "local"}, {"warm", true}, {"content", "later"}, {"hints", Json::array()}}) {
    CAPTURE(member);
    Json differs = conditions;
    differs[member] = other;
    CHECK_FALSE(table.has(differs));
  }
}

TEST_CASE_FIXTURE(Table, "the results of another benchmark are refused, and so is what is no result") {
  std::ofstream(path) << R"({"bench": "db_scale", "rows": []})";
  CHECK_THROWS_WITH_AS(read(), doctest::Contains("no result of bench/search_score"), UsageError);
  std::ofstream(path) << R"({"bench": "search_score", "rows": [{"file": "a"}]})";
  CHECK_THROWS_WITH_AS(read(), doctest::Contains("row of scores"), Error);
  std::ofstream(path) << R"({"bench": "search)";
  CHECK_THROWS_WITH_AS(read(), doctest::Contains("failed reading the scores"), UsageError);
}

TEST_CASE("a standing tells the optimum over what was found, as far as the budget goes") {
  std::vector<std::optional<double>> costs;
  for (int i = 1; i <= 300; ++i) costs.emplace_back(i);
  const simulate::SearchScore scale(costs);
  const std::vector<simulate::Trace> traces = {{4.0}, {4.0, 2.0}};
  const Json row = bench::standing(scale, traces, 100);
  CHECK(row["runs"] == 2);
  CHECK(row["evaluations"] == 1.5);
  CHECK(row["at_25"].get<double>() == doctest::Approx(1.0 / 3));  // the mean of 4 and 2
  CHECK(row["score"].get<double>() > 0);
  CHECK(row.contains("at_100"));
  CHECK_FALSE(row.contains("at_200"));
}

TEST_CASE("where nothing can be gained there is no score") {
  CHECK(bench::standing(simulate::SearchScore(std::vector<std::optional<double>>(3, 1.0)), {{1.0}}, 25)["score"].is_null());
}

}  // namespace test_score_table
