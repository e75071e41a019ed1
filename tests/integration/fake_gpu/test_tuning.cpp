// attune tune on the fake driver measures, with every process and call of a real run.
#include <doctest/doctest.h>

#include "db/database.hpp"
#include "tests/integration/fake_gpu/fake_gpu.hpp"
#include "tuner/base/json.hpp"

namespace test_tuning {

using namespace attune;
using nlohmann::json;
using test::FakeGpu;

namespace {

// What the template's time model says: the only configuration without any slow-down.
const json kBest = {{"block_size", 256}, {"fault", "none"}, {"items", 2}, {"waves", 2}};
constexpr std::size_t kGood = 4 * 3 * 4;  // block_size, items, waves

json problem_event(const test::CommandResult& result) {
  for (const auto& event : test::json_lines(result.out)) {
    if (event["event"] == "problem") return event;
  }
  FAIL("the run printed no result: ", result.err);
  return {};
}

}  // namespace

TEST_CASE_FIXTURE(FakeGpu, "tuning measures on the device, verifies every configuration and finds the best one") {
  const auto result = attune(tune_words("none", {"--json"}));
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  const json start = test::json_lines(result.out).front();
  CHECK(start["replay"] == false);
  CHECK(start["device"] == "Fake GPU");
  const json problem = problem_event(result);
  CHECK(problem["measured"] == kGood);
  CHECK(problem["failed"].empty());
  CHECK(problem["best"]["configuration"] == kBest);
  CHECK(problem["best"]["tie"] == false);
  // 20 us and 10 ns for 1000 elements, by the model; the default is 128 threads, 1 item, 1 wave.
  CHECK(problem["best"]["median_us"].get<double>() == doctest::Approx(20.01).epsilon(1e-3));
  CHECK(problem["best"]["default_us"].get<double>() == doctest::Approx(20.01 * (1 + 0.10 + 0.15 + 0.06)).epsilon(1e-3));
  const auto stored = records();
  CHECK(stored.size() == kGood);
  for (const auto& record : stored) {
    CAPTURE(record.configuration);
    CHECK(record.outcome == "ok");
    CHECK(record.verified);
    CHECK(record.origin == "measured");
  }
}

TEST_CASE_FIXTURE(FakeGpu, "every policy tunes, and floating-point outputs are judged with their tolerance") {
  for (const char* policy : {"cold/graph", "hot/graph", "cold/stream", "hot/stream"}) {
    CAPTURE(policy);
    auto words = tune_words("none", {"--policy", policy, "--json"});
    words[3] = "f32";
    const auto result = attune(words);
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    CHECK(problem_event(result)["best"]["configuration"] == kBest);
  }
}

TEST_CASE_FIXTURE(FakeGpu, "each stored record is told as an event once it is in the database") {
  const auto result = attune(tune_words("quick", {"--json"}));
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  std::map<json, std::string> told;
  for (const auto& event : test::json_lines(result.out)) {
    if (event["event"] == "record") told[event["configuration"]] = event["outcome"];
  }
  std::map<json, std::string> stored;
  for (const auto& record : records()) stored[test::configuration_of(record)] = record.outcome;
  CHECK(told == stored);
  CHECK(told.size() == kGood + 2);
}

TEST_CASE_FIXTURE(FakeGpu, "a driver that fails at start is named with its reason, as no driver is") {
  settings["init_result"] = 100;
  const auto result = attune({"devices"});
  CHECK((result.out + result.err).find("CUDA_ERROR_NO_DEVICE") != std::string::npos);
  const auto tuned = attune(tune_words("none"));
  CHECK(tuned.exit_code == 4);
  CHECK(tuned.err.find("cuInit returned CUDA_ERROR_NO_DEVICE") != std::string::npos);
  settings["init_result"] = 803;
  CHECK(attune(tune_words("none")).err.find("CUDA_ERROR_SYSTEM_DRIVER_MISMATCH") != std::string::npos);
}

TEST_CASE_FIXTURE(FakeGpu, "a compiler that does not come to an end is told as that, with what to do; nothing is replayed instead") {
  const auto words = [](const std::string& template_name) {
    return std::vector<std::string>{
        "tune",   template_name,       "--T", "f32", "--op", "sum", "--size", "1048576,2097152", "--budget", "4", "--strategy",
        "random", "--compile-timeout", "1ms"};
  };
  environment["XDG_CACHE_HOME"] = (folder / "cache").string();  // empty: attune's own device kernels are compiled too
  const auto result = attune(words("reduce"));                  // of which there is a recording
  CAPTURE(result.out);
  CHECK(result.exit_code == 4);
  CHECK(result.err.find("not finished after 0.001 s") != std::string::npos);
  CHECK(result.err.find("not finished after 0.001 s") == result.err.rfind("not finished after 0.001 s"));  // once, not for each problem
  CHECK(result.err.find("--compile-timeout") != std::string::npos);
  CHECK(result.err.find("recording") == std::string::npos);
  CHECK(result.out.find("REPLAY") == std::string::npos);
}

TEST_CASE_FIXTURE(FakeGpu, "a problem that does not fit the device's memory says how much it needs") {
  settings["devices"] = json::array({{{"memory_bytes", 128 << 20}}});
  auto words = tune_words("none");
  words[7] = "100M";
  const auto result = attune(words);
  CHECK(result.exit_code == 4);
  CHECK(result.err.find("bytes of device memory") != std::string::npos);
}

TEST_CASE_FIXTURE(FakeGpu, "devices of one machine are told apart, and each is tuned under its own identity") {
  settings["devices"] = json::array({{{"name", "Large"}, {"sm_count", 132}}, {{"name", "Small"}, {"sm_count", 66}, {"speed", 0.5}}});
  const json listed = base::parse_json(attune({"devices", "--json"}).out);
  REQUIRE(attune(tune_words("none", {"--device", "0"})).exit_code == 0);
  REQUIRE(attune(tune_words("none", {"--device", "1"})).exit_code == 0);
  std::map<std::string, double> best_us;
  const auto opened = db::Database::open(database, db::OpenMode::ReadOnly);
  for (const auto& row : opened.best({})) best_us[row.device_key] = row.median_us;
  REQUIRE(best_us.size() == 2);
  for (const auto& device : opened.devices()) {
    const std::string name = base::parse_json(device.info_json)["name"];
    CHECK(best_us.at(device.hard_key) == doctest::Approx(name == "Large" ? 20.01 : 40.02).epsilon(1e-3));
  }
}

}  // namespace test_tuning
