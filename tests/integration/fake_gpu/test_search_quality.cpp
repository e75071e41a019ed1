// bench/search_quality: what a winner is held against, what a file of results keeps, and when a mark gives way.
#include <doctest/doctest.h>

#include <filesystem>

#include "tests/integration/fake_gpu/fake_gpu.hpp"
#include "tests/support/write_bytes.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/json.hpp"

namespace test_search_quality {

using namespace attune;
using nlohmann::json;
using test::FakeGpu;

namespace {

/// A configuration of the template synthetic. The fastest one is block_size=256 items=2 waves=2; with waves=8 it takes 1.4 times as long.
json configuration(int waves, int block_size = 256) {
  return {{"block_size", block_size}, {"fault", "none"}, {"items", 2}, {"waves", waves}};
}

struct Searched : FakeGpu {
  Searched() { environment["ATTUNE_WORKER"] = ATTUNE_EXECUTABLE; }

  /// A case whose search covers the configurations that satisfy `where`, however slow this machine is.
  void add_case(const std::string& name, const std::string& where, double goal_behind, const json& mark) {
    cases.push_back({{"case", name},
                     {"template", ATTUNE_SOURCE_DIR "/tests/support/fake_templates/synthetic"},
                     {"problem", {{"T", "i32"}, {"faults", "none"}, {"n", 1000}}},
                     {"options", {"--where", where, "--compile-workers", "2"}},
                     {"budget_s", 300},
                     {"goal_behind", goal_behind},
                     {"mark", mark}});
    test::write_bytes(marks(), base::dump_json(json{{"cases", cases}}));
  }

  [[nodiscard]] std::filesystem::path marks() const { return folder / "marks.json"; }
  [[nodiscard]] json mark_of(std::size_t place) const { return base::parse_json(base::read_file(marks())).at("cases")[place].at("mark"); }

  [[nodiscard]] test::CommandResult search(const std::vector<std::string>& options) const {
    std::vector<std::string> all{ATTUNE_SEARCH_QUALITY, "--output", results_folder().string(), "--marks", marks().string(), "--keep-cache"};
    all.insert(all.end(), options.begin(), options.end());
    return run_program(all);
  }

  [[nodiscard]] std::filesystem::path results_folder() const { return folder / "results"; }

  [[nodiscard]] std::filesystem::path file() const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(results_folder())) {
      if (entry.path().filename() == "search_quality.json") return entry.path();
    }
    FAIL("there are no results");
    return {};
  }

  [[nodiscard]] json rows() const { return base::parse_json(base::read_file(file())).at("rows"); }

  json cases = json::array();
};

json found(const json& configuration) { return {{"is", "found"}, {"configuration", configuration}, {"from", "somebody"}}; }

}  // namespace

TEST_CASE_FIXTURE(Searched, "a winner is as far behind its mark as the paired run says, and reaches the goal of its case or not") {
  add_case("slow", "waves == 8", 0.3, found(configuration(2)));
  add_case("same", "waves == 2 and block_size == 256", 0, found(configuration(2)));
  settings["devices"] = {json::object(), json::object()};
  const auto result = search({"--seeds", "2", "--devices", "0,1"});
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  const json all = rows();
  REQUIRE(all.size() == 4);
  for (const json& row : all) {
    const bool slow = row.at("case") == "slow";
    CAPTURE(base::dump_json(row));
    CHECK(row.at("behind").get<double>() == doctest::Approx(slow ? 0.4 : 0).epsilon(0.02));
    CHECK(row.at("behind_interval")[0] <= row.at("behind"));
    CHECK(row.at("behind_interval")[1] >= row.at("behind"));
    CHECK(row.at("reached") == !slow);
    CHECK(row.at("winner") == configuration(slow ? 8 : 2));
    CHECK(row.at("mark") == configuration(2));
    CHECK(row.at("budget_s") == 300);
    CHECK(row.at("strategy") == "auto");
  }
  for (std::size_t place = 0; place < all.size(); ++place) {
    CHECK(all[place].at("seed") == place % 2 + 1);
    CHECK(all[place].at("device_ordinal") == place % 2);
  }
}

TEST_CASE_FIXTURE(Searched, "a part that is run again takes the place of its rows, and those of other cases and strategies stay") {
  add_case("one", "waves == 4 and block_size == 256", 0.01, found(configuration(2)));
  add_case("other", "waves == 1 and block_size == 256", 0.01, found(configuration(2)));
  REQUIRE(search({"--seeds", "2", "--strategies", "auto,random"}).exit_code == 0);
  const json before = rows();
  REQUIRE(before.size() == 8);
  REQUIRE(search({"--seeds", "1", "--cases", "one", "--strategies", "random"}).exit_code == 0);
  const json after = rows();
  REQUIRE(after.size() == 7);
  CHECK(json(after.begin(), after.begin() + 2) == json(before.begin(), before.begin() + 2));
  CHECK(after[2].at("strategy") == "random");
  CHECK(after[2].at("command_s") != before[2].at("command_s"));
  CHECK(json(after.begin() + 3, after.end()) == json(before.begin() + 4, before.end()));
}

TEST_CASE_FIXTURE(Searched, "rows are not mixed with those of another benchmark's form, which stay") {
  add_case("one", "waves == 2 and block_size == 256", 0, found(configuration(2)));
  REQUIRE(search({"--seeds", "1"}).exit_code == 0);
  json foreign = base::parse_json(base::read_file(file()));
  foreign["rows"] = {{{"search", "--budget 100%"}, {"over_fastest", 1.0}}};
  test::write_bytes(file(), base::dump_json(foreign));
  const auto result = search({"--seeds", "1"});
  CHECK(result.exit_code == 2);
  CHECK(result.err.find("move it away to begin anew") != std::string::npos);
  CHECK(base::parse_json(base::read_file(file())) == foreign);
}

TEST_CASE_FIXTURE(Searched, "a mark gives way to what a long search finds faster, and to nothing else") {
  add_case("one", "waves <= 2 and block_size == 256", 0, found(configuration(8)));
  add_case("whole", "waves == 2 and block_size == 256", 0, {{"is", "recorded"}, {"configuration", configuration(8)}, {"from", "a space"}});
  const auto faster = search({"--find-marks", "--find-seconds", "300"});
  CAPTURE(faster.err);
  REQUIRE(faster.exit_code == 0);
  const json mark = mark_of(0);
  CHECK(mark.at("configuration") == configuration(2));
  CHECK(mark.at("from").get<std::string>().find("a search of 300s") != std::string::npos);
  CHECK(mark_of(1).at("configuration") == configuration(8));
  REQUIRE(search({"--find-marks", "--find-seconds", "300"}).exit_code == 0);
  CHECK(mark_of(0) == mark);
  const auto refused = search({"--find-marks", "--cases", "whole"});
  CHECK(refused.exit_code == 2);
  CHECK(refused.err.find("its mark is from a space, and stays") != std::string::npos);
}

TEST_CASE_FIXTURE(Searched, "a case is held against what the shipped database dispatches, and not searched where there is none") {
  add_case("one", "waves == 1 and block_size == 256", 0, {{"is", "dispatched"}, {"from", "the shipped database"}});
  const auto refused = search({"--seeds", "1"});
  CHECK(refused.exit_code == 2);
  CHECK(refused.err.find("name it in ATTUNE_SHIPPED_DB") != std::string::npos);
  const std::string shipped = (folder / "other.db").string();
  auto words = tune_words("none", {"--strategy", "exhaustive", "--where", "waves == 8", "--db", shipped});
  REQUIRE(attune(words).exit_code == 0);
  environment["ATTUNE_SHIPPED_DB"] = shipped;
  const auto result = search({"--seeds", "1"});
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  const json row = rows()[0];
  CHECK(row.at("mark") == configuration(8));
  CHECK(row.at("mark_from") == "the shipped database (exact size)");
  CHECK(row.at("behind").get<double>() == doctest::Approx(1.06 / 1.4 - 1).epsilon(0.02));
  CHECK(row.at("reached") == true);
}

}  // namespace test_search_quality
