#include "tuner/report/report.hpp"

#include <doctest/doctest.h>

#include "attune/error.hpp"
#include "tests/unit/report/rows_fixture.hpp"
#include "tuner/base/json.hpp"

namespace test_report {

using namespace attune;
using namespace attune::test;
using nlohmann::json;
using report::build;
using report::Ceiling;

namespace {

std::string message_of(const report::Rows& rows, const report::Request& request) {
  try {
    (void)build(rows, request);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a report holds every problem of the template, with and without a best") {
  const auto report = build(toy_rows(), {});
  CHECK(report.template_name == "toy");
  CHECK(report.template_hash == kHash);
  CHECK(report.summary == "a toy");
  CHECK(report.records == 6);
  REQUIRE(report.series.size() == 1);
  CHECK(report.series[0].choices == std::map<std::string, std::string>{{"T", "f32"}});
  REQUIRE(report.series[0].problems.size() == 2);
  CHECK(report.series[0].problems[0].sizes.at("n") == 1024);
  CHECK(report.series[0].problems[0].best.has_value());
  CHECK(report.series[0].problems[1].sizes.at("n") == 4096);
  CHECK_FALSE(report.series[0].problems[1].best.has_value());
}

TEST_CASE("problems of a series ascend by size as numbers, not as texts") {
  auto rows = toy_rows();
  rows.records.push_back(record(200, configuration_text(64, "tree"), 1.0));
  const auto report = build(rows, {});
  REQUIRE(report.series[0].problems.size() == 3);
  CHECK(report.series[0].problems[0].sizes.at("n") == 200);
  CHECK(report.series[0].problems[2].sizes.at("n") == 4096);
}

TEST_CASE("speed-up, rate and share follow from the run-off's times, the work and the ceiling") {
  auto rows = toy_rows();
  rows.sessions.push_back(session(1024, "2026-03-04T05:00:00Z", R"({"read_ceiling_bytes_per_s": 4.096e9})"));
  const auto report = build(rows, {});
  const auto& best = report.series[0].problems[0].best.value();
  CHECK(best.median_us == 2.0);
  CHECK(best.speed_up.value() == doctest::Approx(2.0));         // 4 us / 2 us
  CHECK(best.bytes_per_s.value() == doctest::Approx(2.048e9));  // 4096 bytes / 2 us
  CHECK(best.ceiling_share.value() == doctest::Approx(0.5));    // 2.048e9 / 4.096e9
  CHECK(report.series[0].ceiling->kind == Ceiling::Kind::Measured);
}

TEST_CASE("without a measured ceiling the theoretical one serves and is called so") {
  const auto report = build(toy_rows(), {});
  REQUIRE(report.series[0].ceiling.has_value());
  CHECK(report.series[0].ceiling->kind == Ceiling::Kind::Theoretical);
  CHECK(report.series[0].ceiling->bytes_per_s == doctest::Approx(256e9));  // 1e9 / s x 128 bytes x 2
}

TEST_CASE("the newest measured ceiling of the device and policy counts") {
  auto rows = toy_rows();
  rows.sessions.push_back(session(1024, "2026-03-04T05:00:00Z", R"({"read_ceiling_bytes_per_s": 3e9})"));
  rows.sessions.push_back(session(4096, "2026-03-05T05:00:00Z", R"({"read_ceiling_bytes_per_s": 5e9})"));
  rows.sessions.push_back(session(4096, "2026-03-06T05:00:00Z", R"({"read_ceiling_bytes_per_s": 0})"));
  auto hot = session(4096, "2026-03-07T05:00:00Z", R"({"read_ceiling_bytes_per_s": 9e9})");
  hot.policy = "hot/graph";
  rows.sessions.push_back(hot);
  const auto report = build(rows, {});
  for (const auto& series : report.series) {
    CHECK(series.ceiling->bytes_per_s == doctest::Approx(series.policy == "hot/graph" ? 9e9 : 5e9));
  }
}

TEST_CASE("what was not recorded stays empty instead of being invented") {
  auto rows = toy_rows();
  rows.devices[0].info_json = "{}";
  rows.best[0].detail_json = "";
  rows.best[0].default_us = 0;
  for (auto& row : rows.records) row.detail_json = "no JSON";
  const auto report = build(rows, {});
  const auto& problem = report.series[0].problems[0];
  CHECK_FALSE(report.series[0].ceiling.has_value());
  CHECK_FALSE(problem.work_bytes.has_value());
  CHECK_FALSE(problem.best->default_us.has_value());
  CHECK_FALSE(problem.best->speed_up.has_value());
  CHECK_FALSE(problem.best->bytes_per_s.has_value());
  CHECK_FALSE(problem.best->ceiling_share.has_value());
  CHECK_FALSE(problem.best->registers.has_value());
  CHECK(problem.best->finalists.empty());
  CHECK(problem.failures.at(0).example_detail.empty());
  CHECK(problem.space_size == 0);
}

TEST_CASE("a device that the database does not describe is shown by its key") {
  auto rows = toy_rows();
  rows.devices.clear();
  const auto report = build(rows, {});
  REQUIRE(report.devices.size() == 1);
  CHECK(report.devices[0].key == kDevice);
  CHECK(report.devices[0].name.empty());
}

TEST_CASE("the interval is the run-off's; that of the search serves only where it covers the published time") {
  auto rows = toy_rows();
  CHECK(build(rows, {}).series[0].problems[0].best->low_us.value() == doctest::Approx(1.5));
  rows.best[0].median_us = 2.6;  // above the record's 1.5 to 2.5
  CHECK_FALSE(build(rows, {}).series[0].problems[0].best->low_us.has_value());
  rows.best[0].detail_json = json{
      {"rounds", 31},
      {"finalists",
       {{{"configuration", configuration_text(64, "tree")}, {"median_us", 4.0}, {"ratio", 1.5}, {"low", 1.4}, {"high", 1.6}},
        {{"configuration", rows.best[0].configuration},
         {"median_us", 2.6},
         {"low_us", 2.55},
         {"high_us", 2.65},
         {"ratio", 1.0},
         {"low", 1.0},
         {"high", 1.0}},
        {{"configuration",
          "without a time"}}}}}.dump();
  const auto built = build(rows, {});
  const auto& best = built.series[0].problems[0].best.value();
  CHECK(best.low_us.value() == 2.55);
  CHECK(best.high_us.value() == 2.65);
  CHECK(best.rounds.value() == 31);
  REQUIRE(best.finalists.size() == 2);
  CHECK(best.finalists[0].high == 1.6);
}

TEST_CASE("the best configuration carries the resources of its own record") {
  const auto report = build(toy_rows(), {});
  const auto& best = report.series[0].problems[0].best.value();
  CHECK(best.verified);
  CHECK(best.registers.value() == 40);
  CHECK(best.shared_bytes.value() == 2048);
  CHECK(best.occupancy.value() == 0.5);
  CHECK(best.sm_clock_mhz.value() == 1500);
}

TEST_CASE("clocks of all records make a range, and throttled records are counted by reason") {
  auto rows = toy_rows();
  const auto measured_at = [&](std::size_t i, int clock_mhz, const std::string& throttle) {
    rows.records[i].detail_json = base::dump_json(json{{"sm_clock_mhz", clock_mhz}, {"throttle", throttle}});
  };
  measured_at(0, 1980, "");
  measured_at(1, 1755, "power_cap,thermal_sw");
  measured_at(2, 0, "");  // not read
  measured_at(3, 1830, "power_cap");
  measured_at(4, 0, "");
  const auto report = build(rows, {});
  const auto& problem = report.series[0].problems[0];
  const auto& clocks = problem.clocks.value();
  CHECK(clocks.read == 3);
  CHECK(clocks.low_mhz == 1755);
  CHECK(clocks.high_mhz == 1980);
  CHECK(clocks.throttled == 2);
  CHECK(clocks.reasons == std::map<std::string, std::uint64_t>{{"power_cap", 2}, {"thermal_sw", 1}});
  CHECK(problem.best.value().sm_clock_mhz.value() == 1830);
  CHECK(problem.best.value().throttle == "power_cap");
}

TEST_CASE("records without clocks leave the clocks unrecorded, reasons without a clock count") {
  auto rows = toy_rows();
  for (auto& record : rows.records) record.detail_json = "{}";
  CHECK_FALSE(build(rows, {}).series[0].problems[0].clocks.has_value());
  rows.records[0].detail_json = base::dump_json(json{{"throttle", "sync_boost"}});
  const auto clocks = build(rows, {}).series[0].problems[0].clocks.value();
  CHECK(clocks.read == 0);
  CHECK(clocks.throttled == 1);
}

TEST_CASE("failures are counted by kind, most frequent first, with an example that says why") {
  auto rows = toy_rows();
  rows.records.push_back(record(1024, configuration_text(32, "shuffle"), 0, "compile_failed", ""));
  rows.records.push_back(record(1024, R"({"block":256})", 0, "compile_failed", "toy.cu(3): error"));
  const auto report = build(rows, {});
  const auto& problem = report.series[0].problems[0];
  REQUIRE(problem.failures.size() == 2);
  CHECK(problem.failures[0].outcome == "compile_failed");
  CHECK(problem.failures[0].count == 2);
  CHECK(problem.failures[0].example_detail == "toy.cu(3): error");
  CHECK(problem.failures[0].example_configuration == R"({"block":256})");
  CHECK(problem.failures[1].outcome == "wrong_result");
  CHECK(problem.outcomes.at("ok") == 4);
}

TEST_CASE("records of an older version of the template are left out and counted") {
  auto rows = toy_rows();
  rows.templates.insert(rows.templates.begin(), db::TemplateRow{"old", "toy", "{}"});
  rows.templates.push_back({"other", "another", "{}"});
  auto old = record(1024, configuration_text(32, "tree"), 0.5);
  old.template_hash = "old";
  old.recorded_at = "2025-01-01T00:00:00Z";
  rows.records.push_back(old);
  report::Request request;
  request.template_name = "toy";
  const auto report = build(rows, request);
  CHECK(report.template_hash == kHash);
  CHECK(report.records == 6);
  CHECK(report.other_hash_records == 1);
  rows.records.back().recorded_at = "2027-01-01T00:00:00Z";
  CHECK(build(rows, request).template_hash == "old");
}

TEST_CASE("policies and devices are series of their own, and filters choose among them") {
  auto rows = toy_rows();
  auto hot = record(1024, configuration_text(64, "tree"), 1.0);
  hot.policy = "hot/graph";
  auto other = record(1024, configuration_text(64, "tree"), 1.0);
  other.device_key = "e1e1e1e1";
  rows.records.push_back(hot);
  rows.records.push_back(other);
  rows.devices.push_back({"e1e1e1e1", "{}", R"({"name":"Second"})"});
  CHECK(build(rows, {}).series.size() == 3);

  report::Request request;
  request.policy = "hot/graph";
  const auto only_hot = build(rows, request);
  REQUIRE(only_hot.series.size() == 1);
  CHECK(only_hot.series[0].policy == "hot/graph");

  for (const std::string device : {"second", "e1e1e1e1", "e1e1"}) {
    CAPTURE(device);
    request = {};
    request.device = device;
    const auto one = build(rows, request);
    REQUIRE(one.series.size() == 1);
    CHECK(one.devices.at(0).name == "Second");
  }
}

TEST_CASE("a problem filter compares choices as texts and sizes as counts") {
  report::Request request;
  request.problem = {{"T", "f32"}, {"n", "2^10"}};
  const auto report = build(toy_rows(), request);
  REQUIRE(report.series.size() == 1);
  REQUIRE(report.series[0].problems.size() == 1);
  CHECK(report.series[0].problems[0].sizes.at("n") == 1024);
}

TEST_CASE("a request that nothing answers says what there is") {
  const auto rows = toy_rows();
  report::Request request;
  request.template_name = "toi";
  CHECK(mentions(message_of(rows, request), "did you mean 'toy'?"));
  request = {};
  request.device = "A100";
  CHECK(mentions(message_of(rows, request), "Toy <GPU> & Sons"));
  request = {};
  request.problem = {{"m", "3"}};
  CHECK(mentions(message_of(rows, request), "no stored row matches"));
  request = {};
  request.policy = "hot/stream";
  CHECK(mentions(message_of(rows, request), "no stored row matches"));
  CHECK(mentions(message_of({}, {}), "no template"));
  auto two = rows;
  two.templates.push_back({"h", "another", "{}"});
  CHECK(mentions(message_of(two, {}), "another, toy"));
}

TEST_CASE("provenance gathers drivers, compilers, origins, versions and dates") {
  auto rows = toy_rows();
  rows.records[0].driver = "560.2";
  rows.records[0].recorded_at = "2026-01-01T00:00:00Z";
  rows.records[1].origin = "recording:toy.json.zst";
  rows.sessions.push_back(session(1024, "2026-03-04T05:00:00Z", R"({"attune_version": "0.1.0"})"));
  const auto report = build(rows, {});
  CHECK(report.drivers.size() == 2);
  CHECK(report.nvrtcs == std::vector<std::string>{"13.0.1"});
  CHECK(report.origins.size() == 2);
  CHECK(report.attune_versions == std::vector<std::string>{"0.1.0"});
  CHECK(report.first_recorded_at == "2026-01-01T00:00:00Z");
  CHECK(report.last_recorded_at == "2026-03-04T05:07:00Z");
}

TEST_CASE("sessions come newest first with what their summaries tell") {
  auto rows = toy_rows();
  rows.sessions.push_back(session(1024, "2026-03-01T00:00:00Z", R"({"measured": 5, "reused": 1, "failed": {"crashed": 2, "timed_out": 1},
      "convergence": [[1, 0.5, 4.0], [3, 1.5, 2.0], ["bad", 1, 1], [4, 2.0, 0]], "budget": "100%", "replayed_from": "recording:a.zst"})"));
  rows.sessions.push_back(session(1024, "2026-03-02T00:00:00Z", R"({"measured": 0, "convergence": [[6, 0.1, 2.0]]})"));
  const auto report = build(rows, {});
  const auto& problem = report.series[0].problems[0];
  REQUIRE(problem.sessions.size() == 2);
  CHECK(problem.sessions[0].started_at == "2026-03-02T00:00:00Z");
  CHECK_FALSE(problem.sessions[0].failed.has_value());
  const auto& older = problem.sessions[1];
  CHECK(older.measured.value() == 5);
  CHECK(older.failed.value() == 3);
  CHECK(older.budget == "100%");
  CHECK(older.replayed_from == "a.zst");
  REQUIRE(older.convergence.size() == 2);
  CHECK(older.convergence[1].best_us == 2.0);
  CHECK(problem.space_size == 6);
  CHECK(problem.convergence_session.value() == 1);  // the newer one measured nothing itself
}

TEST_CASE("a replay without records is known from its sessions") {
  auto rows = toy_rows();
  rows.records.clear();
  rows.sessions.push_back(session(1024, "2026-03-01T00:00:00Z", R"({"replayed_from": "a.zst", "work_bytes": 8192,
      "convergence": [[1, 0.5, 4.0]]})"));
  rows.best[0].detail_json = "{}";
  const auto report = build(rows, {});
  CHECK(report.origins == std::vector<std::string>{"recording:a.zst"});
  const auto& problem = report.series[0].problems[0];
  CHECK(problem.best->bytes_per_s.value() == doctest::Approx(4.096e9));  // 8192 bytes / 2 us
  CHECK(problem.convergence_session.value() == 0);
  CHECK(problem.effects.empty());
}

}  // namespace test_report
