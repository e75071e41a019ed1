// attune renew on the fake driver: results of an older template, driver or compiler are tuned again.
#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "tests/integration/fake_gpu/renew_fixture.hpp"
#include "tests/support/skip.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/json.hpp"

namespace test_renew {

using namespace attune;
using nlohmann::json;
using test::RenewFixture;
namespace fs = std::filesystem;

TEST_CASE_FIXTURE(RenewFixture,
                  "what was tuned with another version of the template is tuned again, from what won before on; older rows stay") {
  tune("1000,2000");
  CHECK(plan()["renewals"].empty());
  CHECK(plan()["current"] == 2);
  // The best was 256 threads and 2 waves; now 4 waves are.
  change_template("0.2 * (waves == 4)", "0.2 * (waves == 2)");
  const json planned = plan();
  REQUIRE(planned["renewals"].size() == 1);
  CHECK(planned["renewals"][0]["problems"] == 2);
  CHECK(planned["renewals"][0]["of_another_version"] == 2);
  CHECK(planned["renewals"][0]["of_another_driver"] == 0);
  CHECK(planned["current"] == 0);
  const auto result = renew({"--json", "--budget", "2"});
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(event(result, "renewed")["problems"] == 2);
  CHECK(event(result, "start")["strategy"] == "auto");
  CHECK(event(result, "problem")["measured"] == 2);  // the default and what had won
  CHECK(plan()["renewals"].empty());
  CHECK(best().size() == 4);
  // What is shown is the newest of each problem, unless all is asked for.
  const auto shown = attune({"show"}), all = attune({"show", "--all"});
  const json listed = json::parse(attune({"show", "--json"}).out);
  CHECK(listed.size() == 4);
  for (const auto& row : listed) CHECK(row["superseded"] == (row["template_hash"] != newest(row["problem"].dump()).template_hash));
  CHECK(shown.out.find("Not shown: 2 older results") != std::string::npos);
  CHECK(all.out.find("Not shown") == std::string::npos);
  CHECK(std::count(all.out.begin(), all.out.end(), '\n') ==
        std::count(shown.out.begin(), shown.out.end(), '\n') + 1);  // two more, without the last line
  const auto again = renew();
  CHECK(again.exit_code == 0);
  CHECK(again.out.find("Current: 2 problems") != std::string::npos);
  CHECK(best().size() == 4);
}

TEST_CASE_FIXTURE(RenewFixture, "of many winners of the family each problem's own is measured right after the default") {
  const std::map<std::string, json> winners = {
      {"10000", configuration(64, 2)}, {"20000", configuration(256, 4)}, {"30000", configuration(256, 1)}};
  for (const auto& [n, winner] : winners) {
    const int block_size = winner["block_size"], waves = winner["waves"];
    tune(n, {"--strategy", "exhaustive", "--where", fmt::format("block_size == {} and waves == {}", block_size, waves)});
  }
  const std::string before = best().front().template_hash;
  change_template("a copy with few", "another copy with few");
  REQUIRE(renew({"--budget", "2"}).exit_code == 0);
  std::map<std::string, std::set<std::string>> measured;
  for (const auto& record : records()) {
    if (record.template_hash == before) continue;
    measured[std::to_string(base::parse_json(record.problem)["n"].get<int>())].insert(record.configuration);
  }
  REQUIRE(measured.size() == 3);
  for (const auto& [n, winner] : winners) CHECK(measured[n] == std::set<std::string>{configuration(64, 1).dump(), winner.dump()});
}

TEST_CASE_FIXTURE(RenewFixture, "a damaged row is told: what it named is not renewed") {
  tune("1000,2000,3000");
  {
    SQLite::Database raw(database, SQLite::OPEN_READWRITE);
    REQUIRE(
        raw.exec(
            "UPDATE best SET median_us = 0.5 WHERE problem_key = (SELECT key FROM problems WHERE text LIKE '%\"n\":2000,%' OR text LIKE '%\"n\":2000}%')") ==
        1);
  }
  change_template("a copy with few", "another copy with few");
  for (const std::vector<std::string>& more : {std::vector<std::string>{"--dry-run"}, {}}) {
    const auto result = renew(more);
    CAPTURE(result.out);
    CHECK(result.err.find("1 damaged rows of") != std::string::npos);
  }
  const auto rows = best();
  CHECK(std::count_if(rows.begin(), rows.end(), [&](const auto& row) { return row.template_hash != rows.front().template_hash; }) == 2);
}

TEST_CASE_FIXTURE(RenewFixture, "records of another driver are measured again in a renewal, and answer any other run") {
  if (fs::exists("/proc/driver/nvidia/version")) return test::skip("the machine's own driver stands for the fake one's version");
  tune("1000");
  const auto before = best();
  settings["driver_version"] = 13020;
  const json planned = plan();
  REQUIRE(planned["renewals"].size() == 1);
  CHECK(planned["renewals"][0]["of_another_version"] == 0);
  CHECK(planned["renewals"][0]["of_another_driver"] == 1);
  tune("1000");  // nothing is measured
  CHECK(best().front().driver == before.front().driver);
  const auto result = renew({"--json", "--budget", "2"});
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  const json problem = event(result, "problem");
  CHECK(problem["measured"] == 2);  // the default, and what had won
  CHECK(problem["best"]["configuration"] == configuration(256, 2));
  CHECK(event(result, "renewed")["same_configuration"] == 1);
  REQUIRE(best().size() == 1);
  CHECK(best().front().driver != before.front().driver);
  const auto stored = records();
  CHECK(stored.size() == 6);
  CHECK(std::count_if(stored.begin(), stored.end(), [&](const auto& row) { return row.driver == before.front().driver; }) == 4);
  CHECK(plan()["renewals"].empty());
}

TEST_CASE_FIXTURE(RenewFixture, "problems that cannot be asked any more, other devices' results and other templates stay and are told") {
  tune("1000");
  change_template("\"T\": {\"type\": [\"i32\", \"f32\"]}", "\"T\": {\"type\": [\"f32\"]}");
  const json gone = plan();
  CHECK(gone["renewals"].empty());
  REQUIRE(gone["impossible"].size() == 1);
  CHECK(gone["impossible"][0]["why"].get<std::string>().find("i32") != std::string::npos);
  const auto told = renew();
  CHECK(told.exit_code == 0);
  CHECK(told.out.find("Cannot be renewed") != std::string::npos);
  const auto unknown = attune({"renew", "--dry-run", "--json", "--compile-workers", "2"});  // without the folder of the template
  CHECK(event(unknown, "renewal")["impossible"][0]["why"].get<std::string>().find("--template-folder") != std::string::npos);
  change_template("[\"f32\"]", "[\"f32\", \"i32\"]");
  CHECK(renew({"--template", "synthetic", "--dry-run"}).exit_code == 2);
  settings["devices"] = {{{"name", "Another GPU"}, {"sm_count", 40}}};
  CHECK(plan()["of_other_devices"] == 1);
  CHECK(plan()["renewals"].empty());
}

TEST_CASE_FIXTURE(RenewFixture, "what cannot be renewed does not keep the rest from it, and is named") {
  tune("1000,2000");
  fs::copy(templates / "brief", templates / "other");
  const fs::path file = templates / "other" / "template.json";
  std::string text = base::read_file(file);
  text.replace(text.find("\"name\": \"brief\""), 15, "\"name\": \"other\"");
  std::ofstream(file) << text;
  REQUIRE(
      attune({"tune", "other", "--template-folder", templates, "--T", "i32", "--end", "well", "--size", "1000", "--compile-workers", "2"})
          .exit_code == 0);
  change_template("a copy with few", "a copy of few");
  change_template("synthetic_plain", "there_is_no_such_kernel");  // the reference of brief, not of other
  text.replace(text.find("a copy with few"), 15, "a copy of few");
  std::ofstream(file) << text;
  const auto result = renew({"--json"});
  CHECK(result.exit_code != 0);
  CHECK(event(result, "renewed")["problems"] == 1);
  CHECK(event(result, "renewed")["of"] == 3);
  CHECK(result.err.find("there_is_no_such_kernel") != std::string::npos);
  const auto unknown = renew({"--template", "nosuch"});
  CHECK(unknown.exit_code == 2);
  CHECK(unknown.err.find("brief, other") != std::string::npos);
}

TEST_CASE_FIXTURE(RenewFixture, "other databases suggest configurations, whatever the database is called; asking alone changes no byte") {
  database = (folder / "results.json").string();
  environment["ATTUNE_DB"] = database;
  tune("1000");
  const std::string bytes = base::read_file(database);
  change_template("a copy with few", "a copy of few");
  CHECK(plan()["renewals"][0]["problems"] == 1);
  CHECK(base::read_file(database) == bytes);
  const auto result = renew({"--try", database + ".of.others", "--json"});
  CHECK(result.exit_code != 0);
  CHECK(result.err.find("of.others") != std::string::npos);
  const auto renewed = renew({"--json"});
  CAPTURE(renewed.err);
  REQUIRE(renewed.exit_code == 0);
  CHECK(event(renewed, "renewed")["same_configuration"] == 1);
  CHECK(renew({"--budget", "10ms", "--json"}).exit_code == 0);  // nothing is left to do
}

TEST_CASE_FIXTURE(RenewFixture, "two devices share a renewal; devices that differ are refused") {
  tune("1000,2000,3000");
  change_template("a copy with few", "a copy of few");
  settings["devices"] = {json::object(), json::object()};
  const auto result = renew({"--device", "all", "--json"});
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(event(result, "renewed")["problems"] == 3);
  CHECK(event(result, "renewed")["same_configuration"] == 3);
  settings["devices"] = {json::object(), {{"sm_count", 40}}};
  const auto refused = renew({"--device", "0,1"});
  CHECK(refused.exit_code == 2);
  CHECK(refused.err.find("differ") != std::string::npos);
}

TEST_CASE_FIXTURE(RenewFixture, "where there is nothing to renew the event of the end comes all the same, and an empty file stays one") {
  tune("1000");
  const json none = event(renew({"--json"}), "renewed");
  CHECK(none["problems"] == 0);
  CHECK(none["of"] == 0);
  const std::string empty = (folder / "empty.db").string();
  std::ofstream(empty).flush();
  const auto refused = renew({"--db", empty});
  CHECK(refused.exit_code == 5);
  CHECK(refused.err.find("the file is empty; a tuning run creates it") != std::string::npos);
  CHECK(fs::file_size(empty) == 0);
}

}  // namespace test_renew
