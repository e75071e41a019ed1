#include "tests/unit/report/rows_fixture.hpp"

#include <fmt/format.h>

#include "tuner/base/json.hpp"

namespace attune::test {

using nlohmann::json;

std::string problem_text(std::int64_t n) { return base::dump_json(json{{"T", "f32"}, {"n", n}}); }

std::string configuration_text(int block, const std::string& stage) { return base::dump_json(json{{"block", block}, {"stage", stage}}); }

db::RecordRow record(std::int64_t n, const std::string& configuration, double median_us, const std::string& outcome,
                     const std::string& detail) {
  db::RecordRow row;
  row.template_hash = kHash;
  row.problem = problem_text(n);
  row.device_key = kDevice;
  row.policy = kPolicy;
  row.configuration = configuration;
  row.outcome = outcome;
  row.stage = outcome == "ok" ? "measured" : "none";
  row.verified = outcome == "ok";
  row.median_us = median_us;
  row.low_us = median_us * 0.75;
  row.high_us = median_us * 1.25;
  const json told = {{"detail", detail},
                     {"sm_clock_mhz", 1500},
                     {"resources", {{"registers", 40}, {"shared_bytes", 2048}, {"spill_bytes", 0}, {"occupancy", 0.5}}}};
  row.detail_json = base::dump_json(told);
  row.driver = "555.1";
  row.nvrtc = "13.0.1";
  row.recorded_at = "2026-03-04T05:06:07Z";
  row.origin = "measured";
  return row;
}

db::BestRow best_row(std::int64_t n, const std::string& configuration, double median_us, double default_us) {
  db::BestRow row;
  row.template_hash = kHash;
  row.template_name = "toy";
  row.family = R"({"T":"f32"})";
  row.problem = problem_text(n);
  row.sizes_json = base::dump_json(json{{"n", n}});
  row.device_key = kDevice;
  row.policy = kPolicy;
  row.configuration = configuration;
  row.median_us = median_us;
  row.default_us = default_us;
  row.driver = "555.1";
  row.recorded_at = "2026-03-04T05:07:00Z";
  row.detail_json = base::dump_json(json{{"work_bytes", n * 4}});
  return row;
}

db::SessionRow session(std::int64_t n, const std::string& started_at, const std::string& summary_json) {
  db::SessionRow row;
  row.key = fmt::format("session {} {}", n, started_at);
  row.template_hash = kHash;
  row.problem = problem_text(n);
  row.device_key = kDevice;
  row.policy = kPolicy;
  row.strategy = "random";
  row.seed = 7;
  row.state = "finished";
  row.space_size = 6;
  row.started_at = started_at;
  row.finished_at = started_at;
  row.summary_json = summary_json;
  return row;
}

db::DeviceRow toy_device() {
  const json info = {
      {"backend", "cuda"},           {"architecture", "sm_90"},    {"sm_count", 10},    {"l2_bytes", 62914560}, {"memory_bus_bits", 1024},
      {"memory_clock_khz", 1000000}, {"name", "Toy <GPU> & Sons"}, {"driver", "555.1"}, {"ecc", true},          {"power_limit_w", 0.0}};
  return {kDevice, R"({"backend":"cuda"})", base::dump_json(info)};
}

report::Rows toy_rows() {
  report::Rows rows;
  rows.templates.push_back({kHash, "toy", R"({
    // Templates may hold comments.
    "name": "toy", "summary": "a toy",
    "parameters": {"stage": {"values": ["tree", "shuffle"], "default": "tree"},
                   "block": {"values": [32, 64, 128], "default": 64}}})"});
  rows.devices.push_back(toy_device());
  rows.records = {record(1024, configuration_text(32, "tree"), 8.0),
                  record(1024, configuration_text(64, "tree"), 4.0),
                  record(1024, configuration_text(64, "shuffle"), 3.0),
                  record(1024, configuration_text(128, "shuffle"), 2.0),
                  record(1024, configuration_text(128, "tree"), 0, "wrong_result", "out[0] is 1, expected 2"),
                  record(4096, configuration_text(64, "tree"), 0, "timed_out", "no answer within 10 s")};
  rows.best.push_back(best_row(1024, configuration_text(128, "shuffle"), 2.0, 4.0));
  return rows;
}

}  // namespace attune::test
