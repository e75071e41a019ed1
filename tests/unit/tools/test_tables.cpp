// The tables of tune, show and ladder: when they have GFLOP/s beside GB/s.
#include <doctest/doctest.h>

#include "tools/ladder_output.hpp"
#include "tools/output.hpp"
#include "tuner/base/json.hpp"

namespace test_tables {

using namespace attune;
using nlohmann::json;

namespace {

constexpr base::Roofline kRoofline{4e12, 64e12};

db::BestRow row_of(std::int64_t n, const json& detail) {
  db::BestRow row;
  row.template_name = "t";
  row.problem = base::dump_json(json{{"T", "f32"}, {"n", n}});
  row.policy = "cold/graph";
  row.configuration = R"({"block_size":64})";
  row.median_us = 10;
  row.default_us = 20;
  row.detail_json = base::dump_json(detail);
  return row;
}

session::LadderResult ladder_of(std::int64_t n, const spec::StatedWork& work) {
  session::LadderResult result;
  result.tuned.problem = {{{"T", "f32"}}, {{"m", 1024}, {"n", n}}};
  result.tuned.work = work;
  result.read_ceiling_bytes_per_s = kRoofline.bytes_per_s;
  result.peak_operations_per_s = kRoofline.operations_per_s;
  result.complete = true;
  for (const char* name : {"naive", "tiled"}) {
    session::RungResult rung;
    rung.name = name;
    rung.size = rung.decided = 1;
    rung.configuration = R"({"block_size":64})";
    rung.median_us = result.rungs.empty() ? 100 : 10;
    result.rungs.push_back(rung);
  }
  return result;
}

/// Its cells one space apart, however wide the columns are.
std::string squeezed(const std::string& table) {
  std::string text;
  for (const char c : table) {
    if (c != ' ' || text.empty() || text.back() != ' ') text += c;
  }
  return text;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("best rows of a kernel that computes little have no column of GFLOP/s") {
  const auto stored = row_of(1000, {{"work_bytes", 20'000'000}, {"work_operations", 5'000'000}});
  const std::string text = squeezed(tools::best_table({stored, row_of(2000, json::object())}, kRoofline));
  CHECK_FALSE(has(text, "GFLOP/s"));
  CHECK_FALSE(has(text, "of peak"));
  CHECK(has(text, "speed-up GB/s of ceiling configuration\n"));
  CHECK(has(text, "2.00x 2000.0 50.0% block_size=64\n"));
}

TEST_CASE("where one row computes more than an operation a byte, GFLOP/s and the share of the peak stand beside GB/s") {
  const auto computing = row_of(1000, {{"work_bytes", 20'000'000}, {"work_operations", 320'000'000}});
  const std::string text = squeezed(tools::best_table({computing, row_of(2000, {{"work_bytes", 20'000'000}})}, kRoofline));
  CHECK(has(text, "GB/s of ceiling GFLOP/s of peak configuration\n"));
  CHECK(has(text, "2000.0 50.0% 32000.0 50.0% block_size=64\n"));  // 320e6 / 10 us
  CHECK(has(text, "2000.0 50.0% - - block_size=64\n"));            // of a version that stored none
}

TEST_CASE("without a known peak GFLOP/s have no share, and what a row says of another type is not shown") {
  const auto computing = row_of(1000, {{"work_bytes", 20'000'000}, {"work_operations", 320'000'000}});
  CHECK(has(squeezed(tools::best_table({computing}, {4e12, 0})), "50.0% 32000.0 - block_size=64\n"));
  CHECK_FALSE(has(tools::best_table({row_of(1000, {{"work_operations", "many"}})}, kRoofline), "GFLOP/s"));
}

TEST_CASE("a ladder has GFLOP/s for rungs and peers where its arithmetic matters, else the columns that it had") {
  tools::Peer peer;
  peer.name = "lib";
  peer.median_us = 20;
  const std::string bound_by_memory = squeezed(tools::ladder_table(ladder_of(1000, {20'000'000, 5'000'000}), "t", "cold/graph", {peer}));
  CHECK_FALSE(has(bound_by_memory, "GFLOP/s"));
  CHECK(has(bound_by_memory, "rung us GB/s of ceiling step fastest configuration\n"));
  const std::string computing = squeezed(tools::ladder_table(ladder_of(1000, {20'000'000, 320'000'000}), "t", "cold/graph", {peer}));
  CHECK(has(computing, "of ceiling GFLOP/s of peak step"));
  CHECK(has(computing, "tiled 10.000 2000.0 50.0% 32000.0 50.0% 10.00x block_size=64\n"));
  CHECK(has(computing, "peer lib 20.000 1000.0 25.0% 16000.0 25.0% - "));
}

TEST_CASE("curves of ladders follow in GFLOP/s where the arithmetic of one of their problems matters") {
  const std::string few = tools::curve_tables({ladder_of(1000, {2000, 500}), ladder_of(2000, {4000, 1000})});
  CHECK(has(few, "\nGB/s over n, "));
  CHECK_FALSE(has(few, "GFLOP/s"));
  const std::string many = tools::curve_tables({ladder_of(1000, {2000, 50'000}), ladder_of(2000, {4000, 200'000})});
  const auto bytes = many.find("\nGB/s over n, "), operations = many.find("\nGFLOP/s over n, ");
  REQUIRE(bytes != std::string::npos);
  REQUIRE(operations != std::string::npos);
  CHECK(bytes < operations);
  CHECK(has(squeezed(many.substr(operations)), "tiled 5.0 20.0\n"));  // 50000 and 200000 operations in 10 us
}

TEST_CASE("the event of a ladder tells operations a second and their share, null where none are stated") {
  spec::VariantLadder ladder;
  ladder.rungs.resize(2);
  ladder.rungs[0].name = "naive";
  ladder.rungs[1].name = "tiled";
  for (auto& rung : ladder.rungs) rung.where.expression = spec::Expression::parse("block_size == 64");
  const json event = session::to_json(ladder_of(1000, {20'000'000, 320'000'000}), ladder);
  CHECK(event["peak_operations_per_s"] == 64e12);
  CHECK(event["rungs"][1]["operations_per_s"].get<double>() == doctest::Approx(32e12));
  CHECK(event["rungs"][1]["peak_share"].get<double>() == doctest::Approx(0.5));
  CHECK(event["rungs"][1]["ceiling_share"].get<double>() == doctest::Approx(0.5));
  const json silent = session::to_json(ladder_of(1000, {20'000'000, 0}), ladder);
  CHECK(silent["rungs"][1]["operations_per_s"].is_null());
  CHECK(silent["rungs"][1]["peak_share"].is_null());
  CHECK(silent["rungs"][1]["bytes_per_s"].get<double>() == doctest::Approx(2e12));
}

}  // namespace test_tables
