#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "attune/error.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/write_bytes.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/json.hpp"
#include "tuner/session/source/recording.hpp"

namespace test_recording {

using namespace attune;
using namespace attune::session;
using nlohmann::json;

namespace {

measure::Measurement measured(const std::string& configuration, double median_us) {
  measure::Measurement measurement;
  measurement.configuration = configuration;
  measurement.stage = measure::Stage::Measured;
  measurement.verified = true;
  measurement.timing = {median_us, median_us * 0.99, median_us * 1.01, median_us * 0.98, 0.0123456789, 0.005, 18, 3, 71};
  measurement.resources = {32, 2048, 16, 24, 2.0 / 3, 31.23456};
  measurement.sm_clock_mhz = 1980;
  measurement.throttle = "sw_power_cap";
  return measurement;
}

Recording sample_recording() {
  Recording recording;
  recording.device = spec::DeviceInfo::of_architecture("sm_90");
  recording.device.driver = "580.159.04";
  recording.date = "2026-11-20T13:17:05Z";
  recording.template_name = "reduce";
  recording.template_hash = "0123456789abcdef0123456789abcdef";
  recording.nvrtc = "13.0.88";
  recording.policy = "cold/graph";
  recording.read_ceiling_bytes_per_s = 4.57e12;
  recording.coverage = "whole space";
  RecordedProblem problem;
  problem.problem = {{{"T", "f32"}, {"op", "sum"}}, {{"n", 1024}}};
  problem.work_bytes = 4096;
  problem.space_size = 3;
  problem.measurements = {measured(R"({"block_size":128,"scale":0.5,"stage":"two_pass","unroll":true})", 1.23456789),
                          measured(R"({"block_size":256,"scale":0.5,"stage":"cluster","unroll":false})", 944.30001)};
  problem.measurements[1].outcome = measure::Outcome::WrongResult;
  problem.measurements[1].detail = "out[0] is 1, not 2";
  problem.finalists = {problem.measurements[0].configuration};
  problem.rounds_us = {{1.23451}, {1.23459}};
  recording.problems.push_back(problem);
  problem.problem.sizes["n"] = 4096;
  problem.measurements.pop_back();
  recording.problems.push_back(problem);
  return recording;
}

json saved(const test::TempFolder& folder, const Recording& recording) {
  recording.save(folder / "saved.json");
  return base::parse_json(base::read_file(folder / "saved.json"));
}

std::string parse_error(const std::string& text) {
  try {
    static_cast<void>(Recording::parse(text, "some.json"));
    return "";
  } catch (const SpecError& error) {
    CHECK(error.file() == "some.json");
    return error.what();
  }
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a recording reads back from plain and from compressed files") {
  const test::TempFolder folder;
  const Recording original = sample_recording();
  for (const char* name : {"r.json", "r.json.zst"}) {
    original.save(folder / name);
    const Recording read = Recording::load(folder / name);
    CHECK(read.device.to_json() == original.device.to_json());
    CHECK(read.date == original.date);
    CHECK(read.template_name == "reduce");
    CHECK(read.template_hash == original.template_hash);
    CHECK(read.nvrtc == "13.0.88");
    CHECK(read.policy == "cold/graph");
    CHECK(read.read_ceiling_bytes_per_s == 4.57e12);
    CHECK(read.coverage == "whole space");
    REQUIRE(read.problems.size() == 2);
    const RecordedProblem& problem = read.problems[0];
    CHECK(problem.problem == original.problems[0].problem);
    CHECK(problem.work_bytes == 4096);
    CHECK(problem.space_size == 3);
    CHECK(problem.finalists == original.problems[0].finalists);
    REQUIRE(problem.measurements.size() == 2);
    CHECK(problem.measurements[0].configuration == original.problems[0].measurements[0].configuration);
    CHECK(problem.measurements[1].configuration == original.problems[0].measurements[1].configuration);
    CHECK(problem.measurements[1].outcome == measure::Outcome::WrongResult);
    CHECK(problem.measurements[1].detail == "out[0] is 1, not 2");
    CHECK(problem.measurements[0].stage == measure::Stage::Measured);
    CHECK(problem.measurements[0].timing.calls_per_sample == 71);
    CHECK(problem.measurements[0].resources.spill_bytes == 24);
  }
}

TEST_CASE("times are kept to 0.0001 us, shares to 0.00001") {
  const test::TempFolder folder;
  const Recording read = Recording::parse(base::dump_json(saved(folder, sample_recording())), "r");
  const auto& measurement = read.problems[0].measurements[0];
  CHECK(measurement.timing.median_us == 1.2346);
  CHECK(measurement.timing.within_spread == 0.01235);
  CHECK(measurement.resources.occupancy == 0.66667);
  CHECK(read.problems[0].measurements[1].timing.median_us == 944.3);
  CHECK(read.problems[0].rounds_us == std::vector<std::vector<double>>{{1.2345}, {1.2346}});
}

TEST_CASE("saving what was loaded gives the same bytes") {
  const test::TempFolder folder;
  sample_recording().save(folder / "first.json");
  Recording::load(folder / "first.json").save(folder / "second.json");
  CHECK(base::read_file(folder / "first.json") == base::read_file(folder / "second.json"));
}

TEST_CASE("the file has the documented fields and one row a measurement") {
  const test::TempFolder folder;
  const json file = saved(folder, sample_recording());
  for (const char* field : {"attune_recording", "device", "driver", "date", "template", "template_hash", "nvrtc", "policy",
                            "read_ceiling_bytes_per_s", "coverage", "problems"}) {
    CHECK(file.contains(field));
  }
  CHECK(file["attune_recording"] == 1);
  CHECK(file["driver"] == "580.159.04");
  const json& problem = file["problems"][0];
  CHECK(problem["problem"] == json{{"T", "f32"}, {"op", "sum"}, {"n", 1024}});
  CHECK(problem["parameters"] == json{"block_size", "scale", "stage", "unroll"});
  CHECK(problem["columns"][0] == "values");
  CHECK(problem["measurements"][0][0] == json{128, 0.5, "two_pass", true});
  CHECK(problem["measurements"][0].size() == problem["columns"].size());
}

TEST_CASE("a reader finds columns by name, in any order, and passes over new ones") {
  const test::TempFolder folder;
  json file = saved(folder, sample_recording());
  for (json& problem : file["problems"]) {
    std::swap(problem["columns"].front(), problem["columns"].back());
    problem["columns"].push_back("energy_mj");
    for (json& row : problem["measurements"]) {
      std::swap(row.front(), row.back());
      row.push_back(17);
    }
  }
  const Recording read = Recording::parse(base::dump_json(file), "r");
  CHECK(read.problems[0].measurements[0].configuration == sample_recording().problems[0].measurements[0].configuration);
  CHECK(read.problems[0].measurements[1].detail == "out[0] is 1, not 2");
}

TEST_CASE("find tells problems apart by size and choice") {
  const Recording recording = sample_recording();
  spec::Problem problem{{{"T", "f32"}, {"op", "sum"}}, {{"n", 4096}}};
  CHECK(recording.find(problem) == &recording.problems[1]);
  problem.choices["op"] = "max";
  CHECK(recording.find(problem) == nullptr);
}

TEST_CASE("a file that is not there is a usage error naming it") {
  CHECK_THROWS_WITH_AS(static_cast<void>(Recording::load("/nonexistent/r.json.zst")), doctest::Contains("/nonexistent/r.json.zst"),
                       UsageError);
}

TEST_CASE("a truncated or damaged file is refused by name") {
  const test::TempFolder folder;
  sample_recording().save(folder / "r.json.zst");
  const std::string compressed = base::read_file(folder / "r.json.zst");
  for (const std::size_t length : {std::size_t{0}, std::size_t{3}, compressed.size() / 2, compressed.size() - 1}) {
    test::write_bytes(folder / "cut.json.zst", compressed.substr(0, length));
    CAPTURE(length);
    CHECK_THROWS_WITH_AS(static_cast<void>(Recording::load(folder / "cut.json.zst")), doctest::Contains("cut.json.zst"), SpecError);
  }
  test::write_bytes(folder / "text.json.zst", "not compressed at all");
  CHECK_THROWS_AS(static_cast<void>(Recording::load(folder / "text.json.zst")), SpecError);
}

TEST_CASE("malformed JSON is refused with line and column") {
  const std::string damaged = parse_error("{\"attune_recording\": 1,\n  \"device\" 5}");
  CHECK(has(damaged, "some.json:2:"));
  CHECK(has(damaged, "damaged"));
  const std::string truncated = parse_error("{\"attune_recording\": 1,\n\n\"dev");
  CHECK(has(truncated, "some.json:3:"));
  CHECK(has(truncated, "truncated"));
  CHECK(has(parse_error(""), "truncated"));
  CHECK(has(parse_error("[1]"), "must be an object"));
}

TEST_CASE("another format version is refused with what to do") {
  CHECK(has(parse_error(R"({"attune_recording": 2})"), "format version 2, this build reads version 1; use a newer attune"));
  CHECK(has(parse_error(R"({"attune_recording": 0})"), "record it again"));
  CHECK(has(parse_error(R"({"attune_recording": "1"})"), "field 'attune_recording' must be a whole number"));
  CHECK(has(parse_error(R"({"name": "something else"})"), "field 'attune_recording' is missing"));
}

TEST_CASE("a recording of a run-off without epochs has rounds that each count, and nobody who left") {
  const test::TempFolder folder;
  json file = saved(folder, sample_recording());
  for (auto& problem : file["problems"]) {
    problem.erase("rounds_per_epoch");
    problem.erase("left");
  }
  const auto recording = session::Recording::parse(base::dump_json(file), "old.json");
  CHECK(recording.problems[0].rounds_per_epoch == 1);
  CHECK(recording.problems[0].left.empty());
}

TEST_CASE("every field is required, and named with its problem when it is missing") {
  const test::TempFolder folder;
  const json whole = saved(folder, sample_recording());
  for (const auto& [field, value] : whole.items()) {
    json file = whole;
    file.erase(field);
    CHECK(has(parse_error(base::dump_json(file)), "field '" + field + "' is missing"));
  }
  for (const auto& [field, value] : whole["problems"][1].items()) {
    if (field == "rounds_per_epoch") continue;  // its absence means 1
    json file = whole;
    file["problems"][1].erase(field);
    CHECK(has(parse_error(base::dump_json(file)), "problems[1]: field '" + field + "' is missing"));
  }
  for (const auto& column : whole["problems"][1]["columns"]) {
    json file = whole;
    for (json& name : file["problems"][1]["columns"]) {
      if (name == column) name = "other";
    }
    CHECK(has(parse_error(base::dump_json(file)), "problems[1]: field 'columns' lacks column '" + column.get<std::string>() + "'"));
  }
}

TEST_CASE("a mistyped or contradictory field is named with its place") {
  const test::TempFolder folder;
  const json whole = saved(folder, sample_recording());
  const auto error_with = [&](const char* pointer, const json& value) {
    json file = whole;
    file[json::json_pointer(pointer)] = value;
    return parse_error(base::dump_json(file));
  };
  CHECK(has(error_with("/date", 5), "field 'date' must be a string, not 5"));
  CHECK(has(error_with("/problems", "none"), "field 'problems' must be an array"));
  CHECK(has(error_with("/read_ceiling_bytes_per_s", "fast"), "field 'read_ceiling_bytes_per_s' must be a number"));
  CHECK(has(error_with("/device/sm_count", "many"), "field 'device': "));
  CHECK(has(error_with("/driver", "1.0"), "field 'driver' is \"1.0\", but the device's is '580.159.04'"));
  CHECK(has(error_with("/problems/1", 7), "problems[1]: must be an object, not 7"));
  CHECK(has(error_with("/problems/1/problem", 7), "problems[1]: field 'problem': "));
  CHECK(has(error_with("/problems/1/work_bytes", -1), "problems[1]: field 'work_bytes' must be a whole number"));
  CHECK(has(error_with("/problems/0/space_size", 1), "problems[0]: field 'space_size' is 1, but there are 2 measurements"));
  CHECK(has(error_with("/problems/0/parameters/0", 1), "field 'parameters' must be an array of strings, not 1"));
  CHECK(has(error_with("/problems/0/measurements/1", json::array()), "problems[0]: measurements[1]: must be an array of"));
  CHECK(has(error_with("/problems/0/measurements/1/0", json::array({1})), "measurements[1]: column 'values' must be an array of 4"));
  CHECK(has(error_with("/problems/0/measurements/1/0/2", nullptr), "measurements[1]: column 'values': parameter 'stage'"));
  CHECK(has(error_with("/problems/0/measurements/1/1", "fine"), "measurements[1]: failed reading an outcome: 'fine' is unknown"));
  CHECK(has(error_with("/problems/0/rounds_us/1", json::array({1, 2})), "problems[0]: rounds_us[1] has 2 times for 1 finalists"));
  CHECK(has(error_with("/problems/0/rounds_us/1/0", 0), "problems[0]: rounds_us[1] must be an array of times above 0"));
}

TEST_CASE("a recording that contradicts itself is not written") {
  const test::TempFolder folder;
  const auto refuses = [&](const Recording& recording) {
    CHECK_THROWS_AS(recording.save(folder / "r.json"), Error);
    CHECK_FALSE(std::filesystem::exists(folder / "r.json"));
  };
  Recording recording = sample_recording();
  recording.problems[1].rounds_us[0].push_back(1);
  refuses(recording);
  recording = sample_recording();
  recording.problems[0].space_size = 1;
  refuses(recording);
  recording = sample_recording();
  recording.problems[0].measurements[1].configuration = R"({"block_size":128})";
  refuses(recording);
  recording = sample_recording();
  recording.problems[0].measurements[1].configuration = R"({ "block_size": 128 })";
  refuses(recording);
  recording = sample_recording();
  recording.problems[0].measurements[1].timing.median_us = std::numeric_limits<double>::quiet_NaN();
  refuses(recording);
}

TEST_CASE("a detail cut in the middle of a character does not cost the recording") {
  const test::TempFolder folder;
  Recording recording = sample_recording();
  recording.problems[0].measurements[1].detail = "error: \xC3";
  recording.save(folder / "r.json");
  CHECK(Recording::load(folder / "r.json").problems[0].measurements[1].detail == "error: \xEF\xBF\xBD");
}

TEST_CASE("thousands of measurements compress to a few dozen bytes each") {
  const test::TempFolder folder;
  Recording recording = sample_recording();
  auto& problem = recording.problems[0];
  problem.measurements.clear();
  problem.space_size = 4000;
  for (int i = 0; i < 4000; ++i) {
    const json configuration = {{"a", i % 8}, {"b", i / 8 % 16}, {"c", i / 128}};
    problem.measurements.push_back(measured(base::dump_json(configuration), 5 + (i * 7919 % 20011) * 0.001));
  }
  problem.finalists.clear();
  problem.rounds_us.clear();
  recording.save(folder / "r.json.zst");
  CHECK(std::filesystem::file_size(folder / "r.json.zst") < 4000 * 50);
  CHECK(Recording::load(folder / "r.json.zst").problems[0].measurements.size() == 4000);
}

}  // namespace test_recording
