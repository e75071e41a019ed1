// Curves over one size of problems that have several.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <utility>

#include "tests/unit/report/rows_fixture.hpp"
#include "tuner/base/json.hpp"
#include "tuner/report/size_cuts.hpp"
#include "tuner/report/writers.hpp"

namespace test_size_cuts {

using namespace attune;
using nlohmann::json;

namespace {

using Shape = std::pair<std::int64_t, std::int64_t>;

std::string problem_of(Shape shape, const std::string& skew) {
  return base::dump_json(json{{"T", "i32"}, {"skew", skew}, {"n", shape.first}, {"bins", shape.second}});
}

/// Two rungs, of which the second holds nothing from 4096 bins on.
std::string ladder_of(Shape shape) {
  json ladder = {{"ran_off", true}, {"read_ceiling_bytes_per_s", 4e12}, {"tables", json::array()}, {"rungs", json::array()}};
  for (const char* name : {"global", "private"}) {
    const bool there = name == std::string("global") || shape.second < 4096;
    const double us = static_cast<double>(shape.first) / (name == std::string("global") ? 1e5 : 1e6);
    ladder["rungs"].push_back({{"name", name},
                               {"configurations", there ? 3 : 0},
                               {"decided", there ? 3 : 0},
                               {"published", json::array()},
                               {"configuration", there ? json{{"block", 32}} : json(nullptr)},
                               {"median_us", there ? json(us) : json(nullptr)},
                               {"bytes_per_s", there ? json(4e6 * static_cast<double>(shape.first) / us) : json(nullptr)}});
  }
  return base::dump_json(json{{"work_bytes", 4 * shape.first + 4 * shape.second}, {"ladder", ladder}});
}

report::Report report_of(const std::vector<Shape>& shapes, const std::vector<std::string>& skews = {"zipf"}) {
  auto rows = test::toy_rows();
  rows.records.clear();
  rows.best.clear();
  for (const auto& skew : skews) {
    for (const Shape& shape : shapes) {
      rows.sessions.push_back(test::session(shape.first, fmt::format("2026-01-01T00:00:{:02}Z", rows.sessions.size()), ladder_of(shape)));
      rows.sessions.back().problem = problem_of(shape, skew);
      rows.records.push_back(test::record(shape.first, test::configuration_text(32, "tree"), 8.0));
      rows.records.back().problem = problem_of(shape, skew);
    }
  }
  return report::build(rows, {});
}

std::vector<report::SizeCut> cuts_of(const report::Series& series) {
  std::map<std::size_t, report::Sizes> all;
  for (std::size_t i = 0; i < series.problems.size(); ++i) all[i] = series.problems[i].sizes;
  return report::size_cuts(all);
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a cut is all problems that differ in one size only, ascending in it") {
  const auto built = report_of({{1024, 4096}, {1024, 16}, {1024, 256}, {2048, 16}});
  const auto& series = built.series.at(0);
  const auto cuts = cuts_of(series);
  REQUIRE(cuts.size() == 2);
  CHECK(cuts[0].axis == "bins");
  CHECK(cuts[0].fixed == report::Sizes{{"n", 1024}});
  std::vector<std::int64_t> bins;
  for (const std::size_t i : cuts[0].problems) bins.push_back(series.problems.at(i).sizes.at("bins"));
  CHECK(bins == std::vector<std::int64_t>{16, 256, 4096});
  CHECK(cuts[1].axis == "n");
  CHECK(cuts[1].fixed == report::Sizes{{"bins", 16}});
  CHECK(cuts[1].problems.size() == 2);
}

TEST_CASE("problems of one size, and problems that agree in no size, have no cuts") {
  CHECK(cuts_of(report::build(test::toy_rows(), {}).series.at(0)).empty());
  CHECK(cuts_of(report_of({{1024, 16}, {2048, 32}}).series.at(0)).empty());
}

TEST_CASE("the first choice is the cut with the most problems, of equal ones along an axis that of the largest fixed size") {
  const auto of_n = cuts_of(report_of({{1024, 16}, {1024, 32}, {2048, 16}, {4096, 16}}).series.at(0));
  CHECK(of_n.at(report::widest_cut(of_n)).axis == "n");
  const auto square = cuts_of(report_of({{1024, 16}, {1024, 32}, {2048, 16}, {2048, 32}}).series.at(0));
  REQUIRE(square.size() == 4);
  CHECK(square[report::widest_cut(square)].axis == "bins");
  CHECK(square[report::widest_cut(square)].fixed.at("n") == 2048);
}

TEST_CASE("the page draws a curve of each type and skew over the size that varies, with a selector of the others") {
  const std::string page = report::write_html(report_of({{1024, 16}, {1024, 4096}, {2048, 16}}, {"uniform", "zipf"}));
  for (const char* series : {"0", "1"}) {
    CAPTURE(series);
    CHECK(has(page, fmt::format("<select data-curve=\"{}\">", series)));
    CHECK(has(page, fmt::format("data-chart=\"curve\" data-series=\"{}\"", series)));
  }
  // Problems are in the order of bins, then n: 16 and 1024, 16 and 2048, 4096 and 1024.
  CHECK(has(page, "<option value=\"bins:0,2\" selected>bins at n = 2^10</option>"));
  CHECK(has(page, "<option value=\"n:0,1\">n at bins = 16</option>"));
}

TEST_CASE("problems of one size have bars and no curve") {
  auto rows = test::toy_rows();
  for (const std::int64_t n : {1024, 4096}) rows.sessions.push_back(test::session(n, "2099-01-01T00:00:00Z", ladder_of({n, 16})));
  const std::string page = report::write_html(report::build(rows, {}));
  CHECK(has(page, "<select data-ladder=\"0\">"));
  CHECK_FALSE(has(page, "<select data-curve"));
  CHECK_FALSE(has(page, "data-chart=\"curve\""));
}

TEST_CASE("a problem without a ladder is in no curve") {
  auto built = report_of({{1024, 16}, {1024, 256}, {1024, 4096}});
  built.series.at(0).problems.at(1).ladder.reset();
  CHECK(has(report::write_html(built), "<option value=\"bins:0,2\" selected>"));
  built.series.at(0).problems.at(0).ladder.reset();
  CHECK_FALSE(has(report::write_html(built), "<select data-curve"));
}

}  // namespace test_size_cuts
