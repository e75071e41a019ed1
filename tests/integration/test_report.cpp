// attune report by the real command: how searches went, and which parameters matter.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "db/database.hpp"
#include "tests/integration/cli_fixture.hpp"
#include "tuner/base/json.hpp"

namespace test_report_command {

using namespace attune;
using nlohmann::json;
using test::json_lines;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct ReportCommand : test::Cli {
  /// Standard output of `attune report words...`.
  [[nodiscard]] std::string report(std::vector<std::string> words) const {
    words.insert(words.begin(), "report");
    const auto result = attune(words);
    CAPTURE(result.err);
    CHECK(result.exit_code == 0);
    return result.out;
  }
  [[nodiscard]] json problem(std::size_t place) const {
    return base::parse_json(report({"--format", "json"})).at("series").at(0).at("problems").at(place);
  }
  [[nodiscard]] std::string page() const {
    static_cast<void>(report({"--format", "html", "--output", (folder / "page.html").string()}));
    return read("page.html");
  }
  /// Tunes one problem in random order. Returns the time of each configuration in the order in which it was decided; 0: it failed.
  [[nodiscard]] std::vector<double> search(const std::string& budget) const {
    const auto tuned = attune({"tune", kernel, "--T", "f32", "--size", "1000", "--replay", recording, "--strategy", "random", "--seed", "5",
                               "--budget", budget, "--json"});
    REQUIRE(tuned.exit_code == 0);
    std::vector<double> times_us;
    for (const json& line : json_lines(tuned.out)) {
      if (line.at("event") == "record") times_us.push_back(line.at("median_us").is_null() ? 0 : line.at("median_us").get<double>());
    }
    return times_us;
  }
  /// A database of a template that is not there any more: 128 configurations, whose times double with `block`.
  void store_gone_template() const {
    const std::string hash(32, 'a');
    auto stored = db::Database::open(database, db::OpenMode::ReadWrite);
    db::Database::Batch batch(stored);
    stored.put(db::DeviceRow{"d0", "{}", R"({"name": "Gone GPU"})"});
    stored.put(db::TemplateRow{hash, "gone", "{}"});
    for (int i = 0; i < 128; ++i) {
      db::RecordRow row;
      row.template_hash = hash;
      row.problem = R"({"n":1024})";
      row.device_key = "d0";
      row.policy = "cold/graph";
      row.configuration = base::dump_json(json{{"block", 1 << (i / 16)}, {"items", i % 16}});
      row.outcome = "ok";
      row.stage = "measured";
      row.verified = true;
      row.median_us = row.low_us = row.high_us = std::pow(2.0, i / 16) * (1 + 0.001 * (i % 16));
      row.samples = 9;
      row.detail_json = "{}";
      row.recorded_at = fmt::format("2026-03-04T05:{:02}:{:02}Z", i / 60, i % 60);
      row.origin = "measured";
      stored.put(row);
    }
    batch.commit();
  }
};

}  // namespace

TEST_CASE_FIXTURE(ReportCommand, "report tells what a search had found after each evaluation, as the search told it itself") {
  const auto times_us = search("10");
  REQUIRE(times_us.size() == 10);
  const json course = problem(0).at("course");
  CHECK(course.at("evaluations") == 10);
  CHECK(course.at("worked") == 10);
  CHECK(course.at("space_share").get<double>() == doctest::Approx(10.0 / course.at("space_size").get<double>()));
  CHECK(course.at("space_size").get<std::uint64_t>() <= space_size);
  double best_us = times_us[0];
  for (std::size_t i = 0; i < times_us.size(); ++i) {
    best_us = std::min(best_us, times_us[i]);
    CAPTURE(i);
    CHECK(course.at("curve").at(i).at(0) == i + 1);
    CHECK(course.at("curve").at(i).at(1) == best_us);
  }
  double sum_us = 0;
  for (const double us : times_us) sum_us += us;
  CHECK(course.at("points").at(0).at(2).get<double>() == doctest::Approx(sum_us / 10));  // one random draw is the mean
  CHECK(course.at("points").back().at(2) == best_us);                                    // all of them are all
}

TEST_CASE_FIXTURE(ReportCommand, "what a second session reuses is no further evaluation, what it adds stands behind it") {
  const auto first = search("10");
  const json before = problem(0).at("course");
  static_cast<void>(search("10"));
  CHECK(problem(0).at("course") == before);
  static_cast<void>(search("100%"));
  const json after = problem(0).at("course");
  CHECK(after.at("evaluations").get<std::uint64_t>() > 10);
  CHECK(after.at("space_share") == 1.0);
  for (std::size_t i = 0; i < first.size(); ++i) CHECK(after.at("curve").at(i).at(1) == before.at("curve").at(i).at(1));
}

TEST_CASE_FIXTURE(ReportCommand, "csv, markdown and html have the same search beside random search") {
  static_cast<void>(search("10"));
  const json course = problem(0).at("course");
  const json second = course.at("points").at(1);
  const std::string csv = report({"--format", "csv"});
  CHECK(contains(csv, "best_us_after_2,random_us_after_2"));
  CHECK(contains(csv, fmt::format(",{},{},", second.at(1).get<double>(), second.at(2).get<double>())));
  const std::string counted = fmt::format("10 of {} configurations", course.at("space_size").get<std::uint64_t>());
  for (const std::string& text : {report({"--format", "md"}), page()}) {
    CHECK(contains(text, counted));
    CHECK(contains(text, "random search looks better than it would in the whole space"));
    CHECK(contains(text, fmt::format("{:.3f}", course.at("points").at(0).at(2).get<double>()).substr(0, 5)));
  }
  CHECK(contains(page(), "data-chart=\"course\""));
}

TEST_CASE_FIXTURE(ReportCommand, "every format tells which parameters matter, of records alone") {
  store_gone_template();
  const json shares = problem(0).at("shares");
  CHECK(shares.at("learnt_from") == 128);
  const json& first = shares.at("parameters").at(0);
  CHECK(first.at("parameter") == "block");
  CHECK(first.at("share").get<double>() == doctest::Approx(1).epsilon(0.15));
  CHECK(shares.at("parameters").at(1).at("share").get<double>() < 0.05);
  const auto two_digits = [&](const char* figure) { return fmt::format("{:.2f}", first.at(figure).get<double>()); };
  CHECK(contains(report({"--format", "csv"}), ",shares_learnt_from,share_of_block,share_low_of_block,share_high_of_block,share_of_items,"));
  CHECK(contains(report({"--format", "md"}),
                 fmt::format("| block | {} | {} to {} |", two_digits("share"), two_digits("low"), two_digits("high"))));
  const std::string written = page();
  CHECK(contains(written, "data-chart=\"shares\""));
  CHECK(contains(written, fmt::format(">{} <span class=\"missing\">{}&thinsp;&ndash;&thinsp;{}</span>", two_digits("share"),
                                      two_digits("low"), two_digits("high"))));
}

TEST_CASE_FIXTURE(ReportCommand, "two reports of one database are the same but for their date") {
  store_gone_template();
  json one = base::parse_json(report({"--format", "json"})), other = base::parse_json(report({"--format", "json"}));
  one.erase("generated_at");
  other.erase("generated_at");
  CHECK(one == other);
}

}  // namespace test_report_command
