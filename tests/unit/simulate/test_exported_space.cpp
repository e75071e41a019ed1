#include <doctest/doctest.h>

#include "attune/error.hpp"
#include "tests/unit/simulate/spaces.hpp"
#include "tuner/simulate/exported_space.hpp"
#include "tuner/simulate/failure_words.hpp"
#include "tuner/simulate/gunzip.hpp"
#include "tuner/simulate/gzip.hpp"

namespace test_exported_space {

using namespace attune;
using measure::Outcome;
using measure::Stage;
using nlohmann::json;

namespace {

measure::Measurement measured(const std::string& configuration, double us, Stage stage, bool verified) {
  measure::Measurement measurement;
  measurement.configuration = configuration;
  measurement.stage = stage;
  measurement.verified = verified;
  measurement.timing = {us, us - 1, us + 2, us - 1.5, 0, 0, 6, 2, 100};
  measurement.resources.compile_ms = 250.5;
  return measurement;
}

measure::Measurement failed(const std::string& configuration, Outcome outcome, const std::string& detail) {
  measure::Measurement measurement;
  measurement.configuration = configuration;
  measurement.outcome = outcome;
  measurement.detail = detail;
  return measurement;
}

/// Two that work and one of each failure.
simulate::ExportedSpace space() {
  simulate::ExportedSpace space;
  space.template_name = "k";
  space.problem.choices["T"] = "f32";
  space.problem.sizes = {{"m", 7}, {"n", 1000}};
  space.sizes = {1000, 7};
  space.device.name = "GPU \"1\"";
  space.policy = "cold/graph";
  const auto add = [&](measure::Measurement measurement) {
    space.results.push_back({std::move(measurement), "2026-01-02T03:04:05Z", "580.1", "13.0", "measured"});
  };
  add(measured(R"({"b":256,"fast":true,"kind":"x","r":0.5})", 12.34567, Stage::RunOff, true));
  add(measured(R"({"b":64,"fast":false,"kind":"y","r":2.0})", 99, Stage::Screened, false));
  int b = 1;
  for (const Outcome outcome :
       {Outcome::CompileFailed, Outcome::ExceedsLimits, Outcome::LaunchFailed, Outcome::WrongResult, Outcome::Crashed, Outcome::TimedOut})
    add(failed(R"({"b":)" + std::to_string(b++) + R"(,"fast":true,"kind":"x","r":0.5})", outcome, "why \xff not"));
  return space;
}

std::string thrown(const simulate::ExportedSpace& space) {
  try {
    (void)simulate::kernel_tuner_cache(space);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

}  // namespace

TEST_CASE("a cache for Kernel Tuner says what was measured in milliseconds, under the keys that Python makes of the values") {
  const json cache = base::parse_json(simulate::kernel_tuner_cache(space()));
  CHECK(cache["device_name"] == "GPU \"1\"");
  CHECK(cache["kernel_name"] == "k");
  CHECK(cache["problem_size"] == json({1000, 7}));
  CHECK(cache["tune_params_keys"] == json({"b", "fast", "kind", "r"}));
  CHECK(cache["tune_params"]["b"] == json({1, 2, 3, 4, 5, 6, 64, 256}));
  CHECK(cache["objective"] == "time");
  const json& entry = cache["cache"].at("256,True,x,0.5");
  CHECK(entry["fast"] == true);
  CHECK(entry["time"] == 0.0123457);
  CHECK(entry["times"] == json({0.0123457}));
  CHECK(entry["compile_time"] == 250.5);
  CHECK(entry["benchmark_time"] == 7.407402);  // 6 samples of 100 calls
  for (const char* const unknown : {"verification_time", "strategy_time", "framework_time"}) CHECK(entry[unknown] == 0.0);
  CHECK(entry["timestamp"] == "2026-01-02T03:04:05Z");
  CHECK_FALSE(entry.contains("__error__"));
  CHECK(cache["cache"].contains("64,False,y,2.0"));
}

TEST_CASE("a cache lists its entries in the order of their measurements, and ends as Kernel Tuner needs it to append") {
  const std::string text = simulate::kernel_tuner_cache(space());
  CHECK(text.ends_with("}}\n}"));
  CHECK(text.find("\n\"256,True") < text.find("\n\"64,False"));
  CHECK(text.find("\n\"64,False") < text.find("\n\"1,True"));
  CHECK(text.find("\"cache\": {\n\"256,True") > text.find("\"objective\""));
}

TEST_CASE("what was only screened or not verified has a time, and says that nobody vouches for it") {
  const json cache = base::parse_json(simulate::kernel_tuner_cache(space()))["cache"];
  const json& vouched = cache.at("256,True,x,0.5");
  CHECK(vouched["attune_stage"] == "run_off");
  CHECK(vouched["attune_verified"] == 1);
  const json& other = cache.at("64,False,y,2.0");
  CHECK(other["time"] == 0.099);
  CHECK(other["attune_stage"] == "screened");
  CHECK(other["attune_verified"] == 0);
  const json results = base::parse_json(simulate::t4_results(space()))["results"];
  CHECK(results[0]["correctness"] == 1);
  CHECK(results[1]["correctness"] == 0);
  CHECK(results[1]["invalidity"] == "correct");
}

TEST_CASE("every failure is the nearest word of the format, and attune's own beside it") {
  const std::vector<std::vector<std::string>> words = {{"compile_failed", "CompilationFailedConfig", "compile"},
                                                       {"exceeds_limits", "InvalidConfig", "constraints"},
                                                       {"launch_failed", "RuntimeFailedConfig", "runtime"},
                                                       {"wrong_result", "RuntimeFailedConfig", "correctness"},
                                                       {"crashed", "RuntimeFailedConfig", "runtime"},
                                                       {"timed_out", "RuntimeFailedConfig", "timeout"}};
  const json cache = base::parse_json(simulate::kernel_tuner_cache(space()))["cache"];
  const json results = base::parse_json(simulate::t4_results(space()))["results"];
  for (std::size_t i = 0; i < words.size(); ++i) {
    CAPTURE(words[i][0]);
    const json& entry = cache.at(std::to_string(i + 1) + ",True,x,0.5");
    CHECK(entry["__error__"] == words[i][1]);
    CHECK(entry["time"] == words[i][1]);
    CHECK(entry["attune_outcome"] == words[i][0]);
    CHECK(entry["attune_detail"] == "why \xEF\xBF\xBD not");
    CHECK(results[i + 2]["invalidity"] == words[i][2]);
    CHECK(results[i + 2]["correctness"] == 0);
    CHECK(results[i + 2]["measurements"][0] == json({{"name", "time"}, {"value", words[i][1]}, {"unit", "ms"}}));
    CHECK(measure::name(simulate::failure_named(words[i][2])) == std::string(words[i][0] == "crashed" ? "launch_failed" : words[i][0]));
  }
  CHECK(simulate::failure_named("ErrorConfig") == Outcome::LaunchFailed);
}

TEST_CASE("T4 results have the times and names that its readers look for") {
  const json document = base::parse_json(simulate::t4_results(space()));
  CHECK(document["schema_version"] == "1.0.0");
  CHECK(document["metadata"]["timeunit"] == "milliseconds");
  CHECK(document["metadata"]["attune"]["problem"] == json({{"T", "f32"}, {"m", 7}, {"n", 1000}}));
  const json& result = document["results"][0];
  CHECK(result["configuration"] == json({{"b", 256}, {"fast", true}, {"kind", "x"}, {"r", 0.5}}));
  CHECK(result["objectives"] == json({"time"}));
  CHECK(result["measurements"][0] == json({{"name", "time"}, {"value", 0.0123457}, {"unit", "ms"}}));
  CHECK(result["times"]["runtimes"] == json({0.0123457}));
  CHECK(result["times"]["compilation"] == 250.5);
  for (const json& one : document["results"])
    for (const json& measurement : one["measurements"]) CHECK((measurement["value"].is_number() || measurement["value"].is_string()));
}

TEST_CASE("attune reads the spaces that it exports: same times, same failures, in either format") {
  const auto of_cache = test::one_space(simulate::kernel_tuner_cache(space())), of_t4 = test::one_space(simulate::t4_results(space()));
  CHECK(test::told(of_cache) == test::told(of_t4));
  CHECK(test::told(of_cache)[R"({"b":256,"fast":true,"kind":"x","r":0.5})"] == "0.0123457");
  CHECK(test::told(of_cache)[R"({"b":2,"fast":true,"kind":"x","r":0.5})"] == "InvalidConfig");
  CHECK(of_cache.space.size() == 8);
}

TEST_CASE("what a file cannot say is refused: a parameter with the name of a field, and configurations of different parameters") {
  auto taken = space();
  taken.results = {{measured(R"({"time":1})", 5, Stage::Measured, true), "", "", "", "measured"}};
  CHECK(thrown(taken) == "failed exporting: the parameter 'time' has the name of a field of the format; rename it in the template");
  auto mixed = space();
  mixed.results.push_back({measured(R"({"b":1})", 5, Stage::Measured, true), "", "", "", "measured"});
  CHECK(thrown(mixed) == R"(failed exporting: {"b":1} has other parameters than the first configuration)");
  auto none = space();
  none.results = {{measured("no configuration", 5, Stage::Measured, true), "", "", "", "measured"}};
  CHECK(thrown(none) == "failed exporting: no configuration is no configuration");
}

TEST_CASE("what gzip packs, gunzip unpacks: nothing, a line, megabytes") {
  std::string long_text;
  for (int i = 0; i < 300000; ++i) long_text += std::to_string(i * 7919 % 100003);
  for (const std::string& text : {std::string(), std::string("a line\n"), long_text}) {
    const std::string packed = simulate::gzip(text);
    CHECK(packed.starts_with("\x1f\x8b"));
    CHECK((simulate::gunzip(packed, 1 << 24) == text));
  }
  CHECK(simulate::gzip(long_text).size() < long_text.size());
}

}  // namespace test_exported_space
