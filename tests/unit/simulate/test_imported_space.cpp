#include <doctest/doctest.h>

#include <fstream>
#include <map>

#include "attune/error.hpp"
#include "tests/support/synthetic_recording.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/simulate/spaces.hpp"
#include "tuner/session/source/replay_backend.hpp"
#include "tuner/simulate/imported_space.hpp"

namespace test_imported_space {

using namespace attune;
using measure::Outcome;
using measure::Stage;
using nlohmann::json;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// The small template's problem, and files of it.
struct Files {
  test::TempFolder folder;
  spec::KernelTemplate kernel = test::small_template();
  spec::Problem problem = test::small_problem(1000);
  std::string asked_for = "nobody asked";

  simulate::ImportedSpace import(const std::string& text, const std::string& policy = "") {
    std::ofstream(folder / "a.json") << text;
    const auto device = [this](const std::string& named) {
      asked_for = named;
      return spec::DeviceInfo::of_architecture("sm_90");
    };
    return simulate::import_space(folder / "a.json", {kernel, problem, device, policy});
  }
  std::map<std::string, measure::Measurement> measurements(const std::string& text) {
    std::map<std::string, measure::Measurement> all;
    const auto imported = import(text);
    for (const auto& one : imported.recording.problems.at(0).measurements) all[one.configuration] = one;
    return all;
  }
  std::string error_of(const std::string& text) {
    try {
      (void)import(text);
    } catch (const SpecError& error) {
      CHECK(contains(error.what(), "a.json"));
      return error.what();
    }
    return "no error";
  }
};

json entry(int block_size, int items, const json& time) {
  return {{"block_size", block_size}, {"items", items}, {"waves", 1}, {"time", time}, {"timestamp", "2026-03-04 05:06:07.5+00:00"}};
}

std::string cache(const json& entries) {
  return base::dump_json({{"device_name", "A GPU"}, {"tune_params_keys", {"block_size", "items", "waves"}}, {"cache", entries}});
}

std::string results(const std::vector<json>& all) { return base::dump_json({{"schema_version", "1.0.0"}, {"results", all}}); }

json result(int block_size, const std::string& invalidity, const json& time, const std::string& unit = "ms") {
  return {{"configuration", {{"block_size", block_size}, {"items", 1}, {"waves", 2}}},
          {"times", {{"compilation", 12.5}}},
          {"invalidity", invalidity},
          {"measurements", {{{"name", "time"}, {"value", time}, {"unit", unit}}}},
          {"objectives", {"time"}}};
}

}  // namespace

TEST_CASE_FIXTURE(Files, "a cache of Kernel Tuner becomes a recording that says what it was imported from") {
  const auto imported = import(cache({{"64,1,1", entry(64, 1, 0.25)}, {"128,2,1", entry(128, 2, "CompilationFailedConfig")}}));
  const auto& recording = imported.recording;
  CHECK(asked_for == "A GPU");
  CHECK(recording.imported_from == "Kernel Tuner cache a.json");
  CHECK(recording.template_hash == kernel.content_hash);
  CHECK(recording.policy == "hot/stream");
  CHECK(recording.date == "2026-03-04T05:06:07.5Z");
  CHECK(recording.device.driver.empty());
  CHECK(recording.problems.at(0).space_size == 22);
  CHECK(recording.coverage == "imported: 2 of 22 configurations");
  CHECK(imported.left_out == 0);
  recording.save(folder / "r.json.zst");
  const auto loaded = session::Recording::load(folder / "r.json.zst");
  CHECK(loaded.imported_from == recording.imported_from);
  CHECK_THROWS_WITH_AS(session::ReplayBackend(loaded, "r.json.zst", kernel), doctest::Contains("it was imported"), UsageError);
}

TEST_CASE_FIXTURE(Files, "what is imported ran elsewhere: it is screened and not verified, whatever the file claims") {
  json claimed = entry(64, 1, 0.25);
  claimed.update(
      {{"attune_stage", "run_off"}, {"attune_verified", 1}, {"attune_low_ms", 0.2}, {"attune_samples", 6}, {"compile_time", 80}});
  const auto found = measurements(cache({{"64,1,1", claimed}})).begin()->second;
  CHECK(found.outcome == Outcome::Ok);
  CHECK(found.stage == Stage::Screened);
  CHECK_FALSE(found.verified);
  CHECK(found.timing.median_us == 250);
  CHECK(found.timing.low_us == 200);
  CHECK(found.timing.high_us == 250);
  CHECK(found.timing.samples == 6);
  CHECK(found.resources.compile_ms == 80);
}

TEST_CASE_FIXTURE(Files, "failures stay failures: attune's own word where it is there, else what the format's means most likely") {
  json ours = entry(512, 1, "RuntimeFailedConfig");
  ours.update({{"attune_outcome", "crashed"}, {"attune_detail", "signal 9"}});
  json forged = entry(64, 4, "InvalidConfig");
  forged["attune_outcome"] = "ok";
  const auto found = measurements(cache({{"a", entry(64, 1, "InvalidConfig")},
                                         {"b", entry(128, 1, "RuntimeFailedConfig")},
                                         {"c", entry(256, 1, 1e20)},
                                         {"d", ours},
                                         {"e", forged}}));
  const auto of = [&](int block_size, int items) {
    return found.at(base::dump_json({{"block_size", block_size}, {"items", items}, {"waves", 1}}));
  };
  CHECK(of(64, 1).outcome == Outcome::ExceedsLimits);
  CHECK(of(128, 1).outcome == Outcome::LaunchFailed);
  CHECK(of(256, 1).detail == "1e+20 is no time");
  CHECK(of(256, 1).stage == Stage::None);
  CHECK(of(512, 1).outcome == Outcome::Crashed);
  CHECK(of(512, 1).detail == "signal 9");
  CHECK(of(64, 4).outcome == Outcome::ExceedsLimits);
  const auto t4 = measurements(results({result(64, "timeout", "x"), result(128, "correctness", 2.0), result(256, "compile", 1e20)}));
  CHECK(t4.at(R"({"block_size":64,"items":1,"waves":2})").outcome == Outcome::TimedOut);
  CHECK(t4.at(R"({"block_size":128,"items":1,"waves":2})").outcome == Outcome::WrongResult);
  CHECK(t4.at(R"({"block_size":256,"items":1,"waves":2})").outcome == Outcome::CompileFailed);
}

TEST_CASE_FIXTURE(Files, "T4 times count in the unit that they have, and the last of two results of a configuration counts") {
  const auto found = measurements(results(
      {result(64, "correct", 5.0), result(128, "correct", 0.5, "s"), result(256, "correct", 7, "us"), result(64, "correct", 3.0, "")}));
  CHECK(found.size() == 3);
  CHECK(found.at(R"({"block_size":64,"items":1,"waves":2})").timing.median_us == 3000);
  CHECK(found.at(R"({"block_size":128,"items":1,"waves":2})").timing.median_us == 500000);
  CHECK(found.at(R"({"block_size":256,"items":1,"waves":2})").timing.median_us == 7);
  CHECK(found.at(R"({"block_size":64,"items":1,"waves":2})").resources.compile_ms == 12.5);
  CHECK(contains(error_of(results({result(64, "correct", 5.0, "cycles")})), "results[0]: its time has the unit 'cycles'"));
}

TEST_CASE_FIXTURE(Files, "a configuration that both sides exclude is left out and counted; one that ran is refused with its place") {
  const auto imported = import(cache({{"64,1,1", entry(64, 1, 0.25)}, {"512,4,1", entry(512, 4, "InvalidConfig")}}));
  CHECK(imported.left_out == 1);
  CHECK(imported.recording.problems.at(0).measurements.size() == 1);
  const std::string error = error_of(cache({{"512,4,1", entry(512, 4, 0.25)}}));
  CHECK(contains(error, "cache['512,4,1']: the configuration {\"block_size\":512,\"items\":4,\"waves\":1} violates a constraint"));
  CHECK(contains(error_of(cache({{"512,4,1", entry(512, 4, "InvalidConfig")}})), "none of its configurations is in the space"));
}

TEST_CASE_FIXTURE(Files, "a file of another space is refused with what differs and what there is") {
  const std::string value = error_of(cache({{"65,1,1", entry(65, 1, 0.25)}}));
  CHECK(contains(value, "cache['65,1,1']: the parameter 'block_size' of template 'double_it' cannot be 65; its values: 64, 128, 256, 512"));
  const std::string names = error_of(R"({"tune_params_keys": ["block_size", "tile"], "cache": {"64,8": {"time": 1.0}}})");
  CHECK(contains(names, "it has parameters that template 'double_it' lacks: tile;"));
  CHECK(contains(names, "it lacks parameters that template 'double_it' has: items, waves;"));
  CHECK(contains(error_of(R"({"tune_params_keys": ["block_size"], "objective": "energy", "cache": {"64": {"energy": 1.0}}})"),
                 "its objective is 'energy'"));
  CHECK(contains(error_of(cache(json::object())), "it has no configurations"));
  CHECK(contains(error_of(cache({{"64,1,1", entry(64, 1, 1e-9)}})), "cache['64,1,1']: its time is"));
}

TEST_CASE_FIXTURE(Files, "what attune exported is imported as what it says that it is") {
  json document = base::parse_json(cache({{"64,1,1", entry(64, 1, 0.25)}}));
  document["attune"] = {{"template", "double_it"}, {"problem", {{"T", "f32"}, {"n", 1000}}}, {"policy", "cold/graph"}};
  CHECK(import(base::dump_json(document)).recording.policy == "cold/graph");
  CHECK(import(base::dump_json(document), "hot/graph").recording.policy == "hot/graph");
  problem = test::small_problem(2000);
  CHECK(contains(error_of(base::dump_json(document)), R"(it says that it is of template 'double_it' and {"T":"f32","n":1000}, not of)"));
}

TEST_CASE_FIXTURE(Files, "a recording of attune is no file to import, and neither is a damaged one") {
  const auto recording = test::synthetic_recording(kernel, {problem}, [](const std::string&, std::uint64_t) { return 1.0; });
  recording.save(folder / "r.json");
  std::ifstream file(folder / "r.json");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  CHECK(contains(error_of(text), "it is a recording of attune already"));
  CHECK(contains(error_of(text.substr(0, text.size() / 2)), "truncated"));
  CHECK_THROWS_AS((void)simulate::import_space(folder / "nowhere.json", {kernel, problem, {}, ""}), UsageError);
}

}  // namespace test_imported_space
