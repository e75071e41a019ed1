// The roofline's other arm in reports: what a template states of operations, beside what it states of bytes.
#include <doctest/doctest.h>

#include "tests/unit/report/rows_fixture.hpp"
#include "tuner/base/json.hpp"
#include "tuner/report/text.hpp"
#include "tuner/report/writers.hpp"

namespace test_operations {

using namespace attune;
using nlohmann::json;
using report::Format;

namespace {

/// The toy device with a clock: 10 SMs x 128 lanes x 2 x 1 GHz = 2560 GFLOP/s.
report::Rows computing_rows(std::int64_t operations) {
  auto rows = test::toy_rows();
  json info = base::parse_json(rows.devices[0].info_json);
  info.update({{"compute_capability", 90}, {"sm_clock_khz", 1000000}});
  rows.devices[0].info_json = base::dump_json(info);
  rows.best[0].detail_json = base::dump_json(json{{"work_bytes", 4096}, {"work_operations", operations}});
  return rows;
}

report::Report computing(std::int64_t operations = 2'560'000) { return report::build(computing_rows(operations), {}); }

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// The fields of the given line of a CSV none of whose fields holds a comma, by the header's names.
std::map<std::string, std::string> csv_line(const std::string& text, std::size_t line, std::vector<std::string>& names) {
  const auto split = [&](std::size_t wanted) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < wanted; ++i) begin = text.find("\r\n", begin) + 2;
    const std::string row = text.substr(begin, text.find("\r\n", begin) - begin);
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (const char c : row) {
      if (c == '"') quoted = !quoted;
      if (c == ',' && !quoted)
        fields.emplace_back();
      else
        fields.back() += c;
    }
    return fields;
  };
  names = split(0);
  const auto fields = split(line);
  std::map<std::string, std::string> by_name;
  for (std::size_t i = 0; i < names.size(); ++i) by_name[names[i]] = fields.at(i);
  return by_name;
}

}  // namespace

TEST_CASE("operations a second and their share follow from the run-off's time, the stated operations and the device's peak") {
  const auto built = computing();
  const auto& series = built.series.at(0);
  CHECK(series.peak_operations_per_s.value() == doctest::Approx(2.56e12));
  CHECK(built.devices.at(0).theoretical_operations_per_s.value() == doctest::Approx(2.56e12));
  CHECK(series.problems[0].work_operations == 2'560'000);
  const auto& best = series.problems[0].best.value();
  CHECK(best.operations_per_s.value() == doctest::Approx(1.28e12));  // 2.56e6 / 2 us
  CHECK(best.peak_share.value() == doctest::Approx(0.5));
  CHECK(best.bytes_per_s.value() == doctest::Approx(2.048e9));
  CHECK(report::shows_operations(series));
}

TEST_CASE("a row of an older version has no operations, a session tells them as well, and no peak is claimed without a clock") {
  const auto older = report::build(test::toy_rows(), {});
  CHECK_FALSE(older.series[0].problems[0].work_operations.has_value());
  CHECK_FALSE(older.series[0].problems[0].best->operations_per_s.has_value());
  CHECK_FALSE(older.series[0].peak_operations_per_s.has_value());
  CHECK_FALSE(report::shows_operations(older.series[0]));
  auto rows = test::toy_rows();
  rows.sessions.push_back(test::session(1024, "2026-03-04T05:00:00Z", R"({"work_bytes": 1, "work_operations": 2560000})"));
  const auto told = report::build(rows, {});
  CHECK(told.series[0].problems[0].work_bytes == 4096);
  CHECK(told.series[0].problems[0].best->operations_per_s.value() == doctest::Approx(1.28e12));
  CHECK_FALSE(told.series[0].problems[0].best->peak_share.has_value());
  CHECK(has(report::peak_statement(told.series[0]), "not known"));
  rows = computing_rows(-1);
  CHECK_FALSE(report::build(rows, {}).series[0].problems[0].work_operations.has_value());
}

TEST_CASE("tables of reports have GFLOP/s where the arithmetic of a problem matters, and are as they were elsewhere") {
  const auto few = computing(1024), many = computing();
  const std::string plain = report::write(few, Format::Markdown), text = report::write(many, Format::Markdown);
  CHECK(has(plain, "| Speed-up | GB/s | Of ceiling | Tie |"));
  CHECK(has(text, "| Speed-up | GB/s | Of ceiling | GFLOP/s | Of peak | Tie |"));
  CHECK(has(text, "| 1280 | 50.0 % | no |"));
  CHECK(has(text, "no valid configuration | - | - | - | - | - | - | - | - | - |"));
  CHECK(has(text, "Arithmetic peak: 2560 GFLOP/s"));
  CHECK_FALSE(has(plain, "Arithmetic peak"));
  const std::string page = report::write(many, Format::Html);
  for (const char* part : {">GFLOP/s</th>", ">Of peak</th>", ">50.0 %</td>", "Highest share of peak", "Arithmetic peak: 2560 GFLOP/s"}) {
    CAPTURE(part);
    CHECK(has(page, part));
    CHECK_FALSE(has(report::write(few, Format::Html), std::string(part) == ">50.0 %</td>" ? ">GFLOP/s</th>" : part));
  }
}

TEST_CASE("csv has the operations in columns behind all older ones, json beside the bytes") {
  std::vector<std::string> names;
  auto line = csv_line(report::write(computing(), Format::Csv), 1, names);
  const auto origin = std::find(names.begin(), names.end(), "origin");
  REQUIRE(names.end() - origin >= 5);
  CHECK(std::vector<std::string>(origin, origin + 5) ==
        std::vector<std::string>{"origin", "work_operations", "operations_per_s", "peak_operations_per_s", "peak_share"});
  CHECK(line["work_operations"] == "2560000");
  CHECK(std::stod(line["operations_per_s"]) == doctest::Approx(1.28e12));
  CHECK(std::stod(line["peak_operations_per_s"]) == doctest::Approx(2.56e12));
  CHECK(std::stod(line["peak_share"]) == doctest::Approx(0.5));
  line = csv_line(report::write(computing(), Format::Csv), 2, names);  // a problem without a best
  CHECK(line["operations_per_s"].empty());

  const json series = base::parse_json(report::write(computing(), Format::Json)).at("series").at(0);
  CHECK(series.at("shows_operations") == true);
  CHECK(series.at("peak_operations_per_s") == doctest::Approx(2.56e12));
  CHECK(series.at("problems").at(0).at("work_operations") == 2'560'000);
  CHECK(series.at("problems").at(0).at("best").at("operations_per_s").get<double>() == doctest::Approx(1.28e12));
  CHECK(series.at("problems").at(0).at("best").at("peak_share").get<double>() == doctest::Approx(0.5));
  CHECK(series.at("problems").at(1).at("work_operations").is_null());
  CHECK(base::parse_json(report::write(computing(1024), Format::Json)).at("series").at(0).at("shows_operations") == false);
}

TEST_CASE("a ladder of a kernel that computes much has a matrix and columns of GFLOP/s, its peers in them") {
  const json rung = {{"name", "tiled"},   {"configurations", 1}, {"configuration", {{"block", 32}}},
                     {"median_us", 2.0},  {"bytes_per_s", 2e9},  {"operations_per_s", 320.5e9},
                     {"peak_share", 0.39}};
  const json summary = {{"ladder", {{"ran_off", true}, {"read_ceiling_bytes_per_s", 3e9}, {"rungs", {rung}}}}};
  const auto page_of = [&](std::int64_t operations) {
    auto rows = computing_rows(operations);
    rows.sessions.push_back(test::session(1024, "2099-01-01T00:00:00Z", base::dump_json(summary)));
    auto built = report::build(rows, {});
    built.series[0].problems[0].ladder->peers.push_back({"lib", 4.0, "", "", ""});
    return report::write(built, Format::Html);
  };
  const std::string page = page_of(2'560'000);
  CHECK(has(page, "<th scope=\"col\">GFLOP/s</th>"));                             // the matrix
  CHECK(has(page, "<td class=\"num\">320.5</td><td class=\"num\">39.0 %</td>"));  // the rung
  CHECK(has(page, "<td class=\"num\">640.0</td><td class=\"num\">25.0 %</td>"));  // the peer: 2.56e6 / 4 us
  CHECK(has(page, "Throughput of each published variant"));
  const std::string plain = page_of(1024);
  CHECK_FALSE(has(plain, ">GFLOP/s</th>"));
  CHECK(has(plain, "Bandwidth of each published variant"));
}

}  // namespace test_operations
