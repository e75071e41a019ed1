#include "tuner/report/search_course.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "tests/unit/report/rows_fixture.hpp"
#include "tuner/base/json.hpp"
#include "tuner/report/writers.hpp"

namespace test_search_course {

using namespace attune;
using namespace attune::test;
using nlohmann::json;
using report::CoursePoint;
using report::Format;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Records of these times in this order, dated one second after the other; 0 is a failure.
std::vector<db::RecordRow> records_of(const std::vector<double>& times_us) {
  std::vector<db::RecordRow> rows;
  for (const double us : times_us) {
    rows.push_back(record(1024, configuration_text(static_cast<int>(rows.size()), "tree"), us, us > 0 ? "ok" : "timed_out"));
    rows.back().recorded_at = fmt::format("2026-03-04T05:{:02}:{:02}Z", rows.size() / 60, rows.size() % 60);
  }
  return rows;
}

std::optional<report::SearchCourse> course_of(const std::vector<db::RecordRow>& rows, std::uint64_t space_size = 0) {
  std::vector<const db::RecordRow*> records;
  for (const auto& row : rows) records.push_back(&row);
  return report::search_course(records, space_size);
}

std::vector<double> best_of(const std::vector<CoursePoint>& points) {
  std::vector<double> best_us;
  for (const CoursePoint& point : points) best_us.push_back(point.best_us.value_or(0));
  return best_us;
}

std::vector<std::uint64_t> evaluations_of(const std::vector<CoursePoint>& points) {
  std::vector<std::uint64_t> evaluations;
  for (const CoursePoint& point : points) evaluations.push_back(point.evaluations);
  return evaluations;
}

/// The problem n = 1024 of the toy: a failure, 4, 1, 2.
report::Report toy_search() {
  auto rows = toy_rows();
  rows.records = records_of({0, 4, 1, 2});
  rows.sessions.push_back(session(1024, "2026-03-04T05:00:00Z", "{}"));  // a space of 6
  return report::build(rows, {});
}

}  // namespace

TEST_CASE("the best so far is of all that was stored before, in its order, and a failure is an evaluation that finds nothing") {
  const auto course = course_of(records_of({0, 4, 1, 2}));
  REQUIRE(course);
  CHECK(course->evaluations == 4);
  CHECK(course->worked == 3);
  CHECK(evaluations_of(course->curve) == std::vector<std::uint64_t>{1, 2, 3, 4});
  CHECK(!course->curve[0].best_us);
  CHECK(best_of(course->curve) == std::vector<double>{0, 4, 1, 1});
}

TEST_CASE("beside it stands what random search of the same configurations is expected to have found") {
  const auto course = course_of(records_of({0, 4, 1, 2}));
  REQUIRE(course);
  // Of 1, 2, 4 and a failure, which counts as 4: 11/4; of the pairs 11/6; of the triples 5/4 (tests/unit/simulate/test_score.cpp).
  CHECK(course->curve[0].random_us == doctest::Approx(11.0 / 4));
  CHECK(course->curve[1].random_us == doctest::Approx(11.0 / 6));
  CHECK(course->curve[2].random_us == doctest::Approx(5.0 / 4));
  CHECK(course->curve[3].random_us == doctest::Approx(1.0));
}

TEST_CASE("a table has 1, 2, 5, 10, 25, 50, 100, 200, 400 and the last, a chart every improvement besides") {
  std::vector<double> times_us(777, 9.0);
  times_us[600] = 8.0;
  const auto course = course_of(records_of(times_us));
  REQUIRE(course);
  CHECK(evaluations_of(course->points) == std::vector<std::uint64_t>{1, 2, 5, 10, 25, 50, 100, 200, 400, 777});
  const auto found =
      std::find_if(course->curve.begin(), course->curve.end(), [](const CoursePoint& one) { return one.evaluations == 601; });
  REQUIRE(found != course->curve.end());
  CHECK(found->best_us == 8.0);
  CHECK(course->curve.size() < 80);
}

TEST_CASE("a record that was measured again later keeps its place, records that came by key are put into the order of their dates") {
  std::vector<double> times_us;
  for (int i = 0; i < 12; ++i) times_us.push_back(20 - i);
  const auto searched = records_of(times_us);
  auto again = searched;
  again[2].recorded_at = "2026-03-05T00:00:00Z";
  CHECK(best_of(course_of(again)->curve) == best_of(course_of(searched)->curve));

  auto imported = searched;
  std::sort(imported.begin(), imported.end(), [](const auto& a, const auto& b) { return a.configuration < b.configuration; });
  std::reverse(imported.begin(), imported.end());
  CHECK(best_of(course_of(imported)->curve) == best_of(course_of(searched)->curve));
}

TEST_CASE("the share of the space is told where its size is, and is never above all of it") {
  const auto rows = records_of({4, 1, 2});
  CHECK(!course_of(rows)->space_share);
  CHECK(course_of(rows, 12)->space_share == doctest::Approx(0.25));
  CHECK(course_of(rows, 2)->space_share == 1.0);
}

TEST_CASE("different launches are what a share is of, where they were counted") {
  auto rows = toy_rows();
  rows.sessions.push_back(session(1024, "2026-03-04T05:00:00Z", "{}"));  // a space of 6
  CHECK(report::build(rows, {}).series[0].problems[0].course->space_size == 6);
  rows.sessions[0].summary_json = R"({"different_launches": 5})";
  CHECK(report::build(rows, {}).series[0].problems[0].course->space_size == 5);
}

TEST_CASE("there is nothing to tell of a single record, or where nothing has worked") {
  CHECK(!course_of(records_of({})));
  CHECK(!course_of(records_of({3})));
  CHECK(!course_of(records_of({0, 0, 0})));
  CHECK(course_of(records_of({3, 0})));
}

TEST_CASE("json has the search beside random search, and null where there is none") {
  const auto problems = base::parse_json(report::write(report::build(toy_rows(), {}), Format::Json)).at("series").at(0).at("problems");
  CHECK(problems.at(1).at("course").is_null());  // one record, a failure
  const auto course = base::parse_json(report::write(toy_search(), Format::Json)).at("series").at(0).at("problems").at(0).at("course");
  CHECK(course.at("evaluations") == 4);
  CHECK(course.at("worked") == 3);
  CHECK(course.at("space_size") == 6);
  CHECK(course.at("space_share").get<double>() == doctest::Approx(4.0 / 6));
  CHECK(course.at("points").at(0) == json{1, nullptr, 2.75});
  CHECK(course.at("points").back() == json{4, 1.0, 1.0});
  CHECK(course.at("curve").size() == 4);
}

TEST_CASE("csv has two columns for each number of evaluations, empty where a problem has fewer") {
  const std::string text = report::write(toy_search(), Format::Csv);
  const std::string header = text.substr(0, text.find("\r\n"));
  CHECK(
      contains(header, ",evaluations,space_share,best_us_after_1,random_us_after_1,best_us_after_2,random_us_after_2,shares_learnt_from"));
  CHECK(contains(text, fmt::format(",4,{},,2.75,4,", 4.0 / 6)));
  CHECK(report::write(report::build(toy_rows(), {}), Format::Csv).ends_with(",,,\r\n"));  // the problem of one record
}

TEST_CASE("markdown and html show the search beside random search, say what was measured and whom that flatters") {
  const std::string text = report::write(toy_search(), Format::Markdown);
  CHECK(contains(text, "### Search beside random search"));
  CHECK(contains(text, "\nn = 2^10: 4 of 6 configurations (66.7 %), 1 of them failed\n"));
  CHECK(contains(text, "| 1 | - | 2.750 |\n| 2 | 4.000 | 1.833 |\n| 4 | 1.000 | 1.000 |\n"));
  CHECK(contains(text, "random search looks better than it would in the whole space"));
  const std::string page = report::write(toy_search(), Format::Html);
  CHECK(contains(page, "data-chart=\"course\""));
  CHECK(contains(
      page, "<select data-course=\"0\"><option value=\"0\" selected>n = 2^10: 4 of 6 configurations (66.7 %), 1 of them failed</option>"));
  CHECK(contains(page, "random search looks better than it would in the whole space"));
  CHECK(contains(page, "<td class=\"num\">4.000</td>"));
  CHECK(contains(page, "<td class=\"num\">1.833</td>"));
}

TEST_CASE("a report of nothing that was searched has no words about random search") {
  auto rows = toy_rows();
  rows.records.clear();
  const auto built = report::build(rows, {});
  CHECK(!contains(report::write(built, Format::Markdown), "andom search"));
  const std::string page = report::write(built, Format::Html);
  CHECK(!contains(page, "data-chart=\"course\""));
  CHECK(!contains(page, "Beside random search"));
}

}  // namespace test_search_course
