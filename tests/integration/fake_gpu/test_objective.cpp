// Tuning for something else than the time, and what is told besides it.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>

#include "tests/integration/fake_gpu/fake_gpu.hpp"
#include "tests/support/replaced.hpp"
#include "tests/support/write_bytes.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/json.hpp"

namespace test_objective {

using namespace attune;
using nlohmann::json;
using test::FakeGpu;

namespace {

constexpr double kFastest_us = 20.01;  // of 1000 elements, by the template's model: 256 threads, 2 items, 2 waves
constexpr double kOf64Threads = 1.3;   // times as long, and the best of a time for each thread
const std::string kLastMember = R"text("work": {"bytes": "2 * n * sizeof(T)", "operations": "n"})text";

const std::string kWaves = " + 0.06 * (waves == 1) + 0.001 * (waves == 4) + 0.4 * (waves == 8)";

/// `synthetic` with further members.
struct Measured : FakeGpu {
  [[nodiscard]] test::CommandResult tune(const std::string& members, const std::vector<std::string>& more = {}) const {
    const auto path = folder / "synthetic";
    const std::string source = std::string(ATTUNE_SOURCE_DIR) + "/tests/support/fake_templates/synthetic/";
    std::filesystem::create_directories(path);
    test::write_bytes(path / "synthetic.cu", base::read_file(source + "synthetic.cu"));
    std::string text = test::replaced(base::read_file(source + "template.json"), kLastMember, kLastMember + ", " + members);
    if (waves_do_nothing) text = test::replaced(text, kWaves, "");
    test::write_bytes(path / "template.json", text);
    auto words = tune_words("none", {"--json"});
    words[1] = path.string();
    words.insert(words.end(), more.begin(), more.end());
    return attune(words);
  }
  bool waves_do_nothing = false;  ///< 1000 elements are four blocks or fewer anyway

  /// A driver's library that counts on its energy by 250 W (tests/support/fake_nvml).
  void with_power() {
    environment["LD_LIBRARY_PATH"] = std::string(ATTUNE_FAKE_NVML_FOLDER) + "/whole:" + environment.at("LD_LIBRARY_PATH");
    environment["ATTUNE_FAKE_NVML"] = base::dump_json(json{{"uuid", "GPU-66000000-0000-0000-0000-000000000000"}, {"power_w", 250}});
  }
};

json best_of(const test::CommandResult& result) {
  for (const auto& event : test::json_lines(result.out)) {
    if (event["event"] == "problem") return event["best"];
  }
  FAIL("the run printed no result: ", result.err);
  return {};
}

}  // namespace

TEST_CASE_FIXTURE(Measured, "what is minimised or maximised decides, and times stay times") {
  for (const char* const objective :
       {R"("objective": {"minimise": "time_us * block_size"})", R"s("objective": {"maximise": "1 / (time_us * block_size)"})s"}) {
    CAPTURE(objective);
    database = (folder / (std::string(objective).find("max") == std::string::npos ? "least.db" : "most.db")).string();
    environment["ATTUNE_DB"] = database;
    const auto result = tune(objective);
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    const json best = best_of(result);
    CHECK(best["configuration"] == json{{"block_size", 64}, {"fault", "none"}, {"items", 2}, {"waves", 2}});
    CHECK(best["median_us"].get<double>() == doctest::Approx(kFastest_us * kOf64Threads).epsilon(1e-3));
    const double value = kFastest_us * kOf64Threads * 64;
    CHECK(best["objective"]["value"].get<double>() == doctest::Approx(best["objective"]["maximise"] ? 1 / value : value).epsilon(1e-3));
    CHECK(best["objective"]["default"].get<double>() != best["objective"]["value"].get<double>());
    const auto again = tune(objective);
    CHECK(best_of(again)["configuration"] == best["configuration"]);
    for (const auto& event : test::json_lines(again.out))
      if (event["event"] == "problem") CHECK(event["nothing_left"] == true);
  }
}

TEST_CASE_FIXTURE(Measured, "configurations of the same launches that differ in what the objective names are tried each") {
  waves_do_nothing = true;
  const auto result = tune(R"s("objective": {"minimise": "time_us * (9 - waves)"})s", {"--where", "block_size == 256 and items == 2"});
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(best_of(result)["configuration"]["waves"] == 8);
  CHECK(records().size() == 4);
}

TEST_CASE_FIXTURE(Measured, "a configuration of which the objective is no number above 0 cannot win, and ends nothing") {
  const std::string objective = R"s("objective": {"minimise": "time_us * (block_size - 64)"})s";
  const auto result = tune(objective);
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK((result.out + result.err).find("exclude them by a constraint, or change the objective") != std::string::npos);
  CHECK(best_of(result)["configuration"]["block_size"] == 128);
  CHECK(tune(objective, {"--where", "items > 1"}).exit_code == 0);
}

TEST_CASE_FIXTURE(Measured, "a search that learns is told what the objective makes of a time") {
  const auto result = tune(R"("objective": {"minimise": "time_us * block_size"})", {"--strategy", "model", "--budget", "30"});
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(best_of(result)["configuration"]["block_size"] == 64);
}

TEST_CASE_FIXTURE(Measured, "metrics are told of the best configuration, by events, by show and in the report") {
  const auto result = tune(R"("metrics": {"gops": "n / time_us / 1000", "mj": "energy_mj"})");
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  const json best = best_of(result);
  CHECK(best["metrics"]["gops"].get<double>() == doctest::Approx(1 / kFastest_us).epsilon(1e-3));
  CHECK(!best["metrics"].contains("mj"));  // no library tells the power here
  CHECK(!best.contains("objective"));
  const json shown = base::parse_json(attune({"show", "--json"}).out);
  CHECK(shown.at(0).at("metrics") == best["metrics"]);
  CHECK(attune({"show"}).out.find("gops 0.0499") != std::string::npos);
  const auto report = attune({"report", "synthetic", "--format", "md"});
  CAPTURE(report.err);
  CHECK(report.out.find("gops 0.0499") != std::string::npos);
}

TEST_CASE_FIXTURE(Measured, "energy is the driver's count over a window, within the resolution that is told with it") {
  with_power();
  const auto result = tune(R"("metrics": {"mj": "energy_mj"}, "objective": {"minimise": "mj"})", {"--where", "items == 2 and waves == 2"});
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  const json best = best_of(result);
  const double watts = best["power"]["watts"], resolution = best["power"]["resolution"];
  CHECK(resolution > 0);
  CHECK(std::abs(watts - 250) <= 250 * (resolution + 0.001));
  CHECK(best["metrics"]["mj"].get<double>() == doctest::Approx(watts * best["median_us"].get<double>() / 1000));
  CHECK(best["objective"]["value"] == best["metrics"]["mj"]);
  std::size_t with_power = 0;
  for (const auto& record : records()) with_power += base::parse_json(record.detail_json).contains("power") ? 1 : 0;
  CHECK(with_power == 4);  // every block size
  const std::string recording = (folder / "energy.json").string();
  const auto recorded = attune({"record", (folder / "synthetic").string(), "--T", "i32", "--faults", "none", "--size", "1000", "--where",
                                "items == 2 and waves == 2", "--output", recording});
  CAPTURE(recorded.err);
  REQUIRE(recorded.exit_code == 0);
  environment["ATTUNE_DB"] = (folder / "replayed.db").string();
  const auto replayed = attune(
      {"tune", (folder / "synthetic").string(), "--T", "i32", "--faults", "none", "--size", "1000", "--replay", recording, "--json"});
  CAPTURE(replayed.err);
  REQUIRE(replayed.exit_code == 0);
  CHECK(best_of(replayed)["power"]["watts"].get<double>() > 0);
}

TEST_CASE_FIXTURE(Measured, "values that differ by less than is known of the power are a tie") {
  with_power();
  // By the template's model 0.1 % apart.
  const auto result =
      tune(R"("objective": {"minimise": "energy_mj"})", {"--where", "block_size == 256 and items == 2 and waves in [2, 4]"});
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(best_of(result)["tie"] == true);
}

TEST_CASE_FIXTURE(Measured, "an energy that the driver does not count on ends the command, and is no fault of a configuration") {
  with_power();
  environment["ATTUNE_FAKE_NVML"] = base::dump_json(json{{"uuid", "GPU-66000000-0000-0000-0000-000000000000"}, {"power_w", 0}});
  const auto result = tune(R"("objective": {"minimise": "energy_mj"})");
  CHECK(result.exit_code == 4);
  CHECK(result.err.find("the driver's count of its energy does not move on") != std::string::npos);
  CHECK(records().empty());
}

TEST_CASE_FIXTURE(Measured, "an objective of energy where nothing tells it ends the command with what is missing") {
  const auto result = tune(R"("objective": {"minimise": "energy_mj"})");
  CHECK(result.exit_code == 4);
  CHECK(result.err.find("its objective needs the energy that the device consumes, which NVML does not tell here") != std::string::npos);
}

}  // namespace test_objective
