// The ladder of a session's summary, in the model and on the page.
#include <doctest/doctest.h>

#include "tests/unit/report/rows_fixture.hpp"
#include "tuner/base/json.hpp"
#include "tuner/report/writers.hpp"

namespace test_ladder {

using namespace attune;
using nlohmann::json;

namespace {

json rung(const std::string& name, double us) {
  json rung = {
      {"name", name}, {"why", "because <b>"}, {"where", "block == 32"}, {"configurations", us > 0 ? 3 : 0}, {"published", json::array()}};
  rung["configuration"] = us > 0 ? json{{"block", 32}} : json(nullptr);
  rung["median_us"] = us > 0 ? json(us) : json(nullptr);
  rung["bytes_per_s"] = us > 0 ? json(4096 / (us * 1e-6)) : json(nullptr);
  return rung;
}

json ladder_summary() {
  json ladder = {{"ran_off", true}, {"read_ceiling_bytes_per_s", 3e9}, {"tables", json::array()}};
  ladder["rungs"] = {rung("naive", 4), rung("too large", 0), rung("fast", 2)};
  ladder["rungs"][0]["published"].push_back({{"text", "380 GB/s"}, {"hardware", "X100"}, {"source", "a paper"}});
  ladder["rungs"][2]["step"] = 2.0;
  ladder["tables"].push_back({{"parameter", "stage"},
                              {"rung", "fast"},
                              {"cells", {{{"value", "tree"}, {"median_us", 2.5}}, {{"value", "shuffle"}, {"median_us", 2.0}}}}});
  return {{"work_bytes", 4096}, {"ladder", ladder}};
}

report::Report with_ladder(const json& summary) {
  auto rows = test::toy_rows();
  rows.sessions.push_back(test::session(1024, "2026-01-01T00:00:00Z", base::dump_json(json{{"ladder", {{"rungs", json::array()}}}})));
  rows.sessions.push_back(test::session(1024, "2099-01-01T00:00:00Z", base::dump_json(summary)));
  return report::build(rows, {});
}

const report::ProblemReport& smallest(const report::Report& report) { return report.series.at(0).problems.at(0); }

}  // namespace

TEST_CASE("the ladder of a problem is that of its newest session that climbed one") {
  const auto built = with_ladder(ladder_summary());
  REQUIRE(smallest(built).ladder.has_value());
  const auto& ladder = *smallest(built).ladder;
  REQUIRE(ladder.rungs.size() == 3);
  CHECK(ladder.ran_off);
  CHECK(ladder.rungs[0].median_us == 4.0);
  CHECK(ladder.rungs[0].published.at(0).hardware == "X100");
  CHECK_FALSE(ladder.rungs[1].median_us.has_value());
  CHECK(ladder.rungs[1].configurations == 0);
  CHECK(ladder.rungs[2].step == 2.0);
  CHECK(ladder.tables.at(0).cells.at(1) == std::pair<std::string, double>{"shuffle", 2.0});
  CHECK_FALSE(report::build(test::toy_rows(), {}).series.at(0).problems.at(0).ladder.has_value());
}

TEST_CASE("the page shows every rung, empty ones too, with what was published and on which hardware") {
  auto built = with_ladder(ladder_summary());
  built.series[0].problems[0].ladder->peers.push_back({"lib::Sum", 3.0, "Lib 2", "580", "2026-01-01T00:00:00Z"});
  const std::string page = report::write_html(built);
  CHECK(page.find("Ladder of published variants") != std::string::npos);
  for (const char* part : {"naive", "too large", "empty at this size", "Peer: lib::Sum", "<b>X100</b>: 380 GB/s", "(a paper)",
                           "because &lt;b&gt;", "data-ladder=\"0\"", "stage shuffle", "one run-off"}) {
    CAPTURE(part);
    CHECK(page.find(part) != std::string::npos);
  }
  const json data = base::parse_json(report::write_json(built));
  CHECK(data["series"][0]["problems"][0]["ladder"]["rungs"].size() == 3);
  CHECK(data["series"][0]["problems"][0]["ladder"]["peers"][0]["name"] == "lib::Sum");
}

TEST_CASE(
    "a rung of which nothing was tried is not measured, one of which all failed has none valid, and what is not recorded is not claimed") {
  json summary = ladder_summary();
  json& rungs = summary["ladder"]["rungs"];
  const auto cell = [&](const json& decided) {
    rungs[0] = {{"name", "naive"}, {"configurations", 3}, {"decided", decided}, {"median_us", nullptr}, {"configuration", nullptr}};
    const std::string page = report::write_html(with_ladder(summary));
    const std::string name = "<th scope=\"row\" class=\"rung\">naive</th>";
    const auto row = page.find(name) + name.size();
    return page.substr(row, page.find("</tr>", row) - row);
  };
  CHECK(cell(0).find("not measured") != std::string::npos);
  CHECK(cell(2).find("none valid") != std::string::npos);
  CHECK(cell(nullptr).find("none valid") != std::string::npos);  // of a version that did not store it
  CHECK(report::write_html(with_ladder(summary)).find("no valid configuration") != std::string::npos);
  rungs[0]["decided"] = 0;
  CHECK(report::write_html(with_ladder(summary)).find("not measured: none of its 3 configurations was tried") != std::string::npos);
  CHECK(base::parse_json(report::write_json(with_ladder(summary)))["series"][0]["problems"][0]["ladder"]["rungs"][0]["decided"] == 0);
}

TEST_CASE("a page without ladders has no section for them, and a ladder of other types is not recorded rather than an error") {
  CHECK(report::write_html(report::build(test::toy_rows(), {})).find("Ladder of published") == std::string::npos);
  const json odd = {{"ladder",
                     {{"rungs", {1, {{"name", 7}, {"median_us", "4"}, {"configurations", -1}, {"published", {{{"text", 1}}, 2}}}}},
                      {"tables", {3, {{"cells", {1}}}}}}}};
  const auto built = with_ladder(odd);
  REQUIRE(smallest(built).ladder.has_value());
  CHECK(smallest(built).ladder->rungs.size() == 1);
  CHECK_FALSE(smallest(built).ladder->rungs[0].median_us.has_value());
  CHECK_FALSE(report::write_html(built).empty());
  const auto wrong = with_ladder(json{{"ladder", "up"}});
  CHECK(smallest(wrong).ladder->rungs.empty());  // the older session's
}

}  // namespace test_ladder
