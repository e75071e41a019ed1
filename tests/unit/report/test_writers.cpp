#include "tuner/report/writers.hpp"

#include <doctest/doctest.h>

#include "attune/error.hpp"
#include "tests/unit/report/report_fixture.hpp"
#include "tuner/base/json.hpp"

namespace test_writers {

using namespace attune;
using namespace attune::test;
using nlohmann::json;
using report::Format;

namespace {

/// A reader of RFC 4180 that shares no code with the writer.
std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, std::vector<std::string>(1));
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quoted) {
      if (text[i] != '"')
        rows.back().back() += text[i];
      else if (i + 1 < text.size() && text[i + 1] == '"')
        rows.back().back() += text[++i];
      else
        quoted = false;
    } else if (text[i] == '"') {
      quoted = true;
    } else if (text[i] == ',') {
      rows.back().emplace_back();
    } else if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') {
      rows.emplace_back(1);
      ++i;
    } else {
      rows.back().back() += text[i];
    }
  }
  rows.pop_back();  // what follows the last line's end
  return rows;
}

std::string field(const std::vector<std::vector<std::string>>& rows, std::size_t row, const std::string& column) {
  for (std::size_t i = 0; i < rows.at(0).size(); ++i) {
    if (rows[0][i] == column) return rows.at(row).at(i);
  }
  return "no such column";
}

}  // namespace

TEST_CASE("the formats have names and an unknown one is refused with the list") {
  CHECK(report::format_from_name("html") == Format::Html);
  CHECK(report::format_from_name("md") == Format::Markdown);
  CHECK(report::format_from_name("csv") == Format::Csv);
  CHECK(report::format_from_name("json") == Format::Json);
  CHECK_THROWS_WITH_AS((void)report::format_from_name("pdf"), doctest::Contains("html, md, csv and json"), UsageError);
}

TEST_CASE("csv has one row a problem, every row as long as the header") {
  const auto rows = parse_csv(report::write(toy_report(), Format::Csv));
  REQUIRE(rows.size() == 3);
  for (const auto& row : rows) CHECK(row.size() == rows[0].size());
  CHECK(field(rows, 1, "problem") == problem_text(1024));
  CHECK(field(rows, 1, "best_us") == "2");
  CHECK(field(rows, 1, "default_us") == "4");
  CHECK(field(rows, 1, "speed_up") == "2");
  CHECK(field(rows, 1, "ceiling_kind") == "measured");
  CHECK(field(rows, 1, "ceiling_share") == "0.5");
  CHECK(field(rows, 1, "tie") == "false");
  CHECK(field(rows, 1, "configuration") == configuration_text(128, "shuffle"));
  CHECK(field(rows, 1, "ok") == "4");
  CHECK(field(rows, 1, "wrong_result") == "1");
  CHECK(field(rows, 2, "timed_out") == "1");
}

TEST_CASE("csv names an example and its reason for every kind of failure of a problem") {
  const auto rows = parse_csv(report::write(toy_report(), Format::Csv));
  CHECK(field(rows, 1, "failure_examples") == "wrong_result: " + configuration_text(128, "tree") + ": out[0] is 1, expected 2");
  CHECK(field(rows, 2, "failure_examples") == "timed_out: " + configuration_text(64, "tree") + ": no answer within 10 s");
}

TEST_CASE("csv leaves empty what was not recorded") {
  const auto rows = parse_csv(report::write(toy_report(), Format::Csv));
  for (const char* column :
       {"best_us", "default_us", "speed_up", "bytes_per_s", "tie", "configuration", "space_size", "different_launches"}) {
    CAPTURE(column);
    CHECK(field(rows, 2, column).empty());
  }
}

TEST_CASE("csv quotes so that text of several lines comes back as it was") {
  const auto rows = parse_csv(report::write(hostile_report(), Format::Csv));
  REQUIRE(rows.size() == 3);
  CHECK(field(rows, 1, "driver") == "555.1; </script><script>alert(\"1\")</script>, | & '\n@@DATA@@");
}

TEST_CASE("json holds the whole model, null for what was not recorded") {
  const auto root = base::parse_json(report::write(toy_report(), Format::Json));
  CHECK(root.at("attune_report") == 1);
  CHECK(root.at("template").at("hash") == kHash);
  CHECK(root.at("devices").at(0).at("identity").at("L2 cache") == "60 MiB");
  const auto& series = root.at("series").at(0);
  CHECK(series.at("ceiling").at("kind") == "measured");
  const auto& problem = series.at("problems").at(0);
  CHECK(problem.at("sizes").at("n") == 1024);
  CHECK(problem.at("best").at("median_us") == 2.0);
  CHECK(problem.at("outcomes").at("ok") == 4);
  CHECK(problem.at("failures").at(0).at("example_detail") == "out[0] is 1, expected 2");
  CHECK(problem.at("effects").at(0).at("parameter") == "stage");
  CHECK(problem.at("sessions").at(0).at("convergence").at(1).at(2) == 2.0);
  CHECK(problem.at("sessions").at(0).at("run") == "one-command");
  CHECK(problem.at("convergence_session") == 0);
  CHECK(series.at("problems").at(1).at("best").is_null());
  CHECK(series.at("problems").at(1).at("space_size").is_null());
}

TEST_CASE("every format tells how many configurations of a space are different launches, where a session has counted") {
  auto rows = toy_rows();
  rows.sessions.push_back(session(1024, "2026-03-04T05:00:00Z", R"({"different_launches": 1234})"));
  const auto built = report::build(rows, {});
  for (const Format format : {Format::Markdown, Format::Html}) {
    const std::string text = report::write(built, format);
    CHECK(contains(text, "Different launches"));
    CHECK(contains(text, "1234"));
  }
  const auto problems = base::parse_json(report::write(built, Format::Json)).at("series").at(0).at("problems");
  CHECK(problems.at(0).at("different_launches") == 1234);
  CHECK(problems.at(0).at("sessions").at(0).at("different_launches") == 1234);
  CHECK(problems.at(1).at("different_launches").is_null());
  CHECK(field(parse_csv(report::write(built, Format::Csv)), 1, "different_launches") == "1234");
}

TEST_CASE("every format but csv says which problems were measured while throttled") {
  auto rows = toy_rows();
  rows.records[0].detail_json = base::dump_json(json{{"sm_clock_mhz", 1200}, {"throttle", "power_cap"}});
  const auto built = report::build(rows, {});
  const auto clocks = base::parse_json(report::write(built, Format::Json)).at("series").at(0).at("problems").at(0).at("clocks");
  CHECK(clocks == json{{"read", 5}, {"low_mhz", 1200}, {"high_mhz", 1500}, {"throttled", 1}, {"reasons", {{"power_cap", 1}}}});
  CHECK(contains(report::write(built, Format::Markdown), "| n = 2^10 | 1200 to 1500 MHz | 1 of 5 (power_cap 1) | 1500 MHz |"));
  const std::string page = report::write(built, Format::Html);
  CHECK(contains(page, "1 of the stored measurements were made while something held the clocks down"));
  CHECK(contains(page, "1 of 5 (power_cap 1)"));
  CHECK_FALSE(contains(report::write(toy_report(), Format::Html), "held the clocks down"));
}

TEST_CASE("bytes that are no UTF-8 do not keep a report from being written") {
  auto report = toy_report();
  report.series[0].problems[0].failures[0].example_detail = "log \xff\xfe end";
  CHECK(base::parse_json(report::write(report, Format::Json)).is_object());
  CHECK(contains(report::write(report, Format::Html), "</html>"));
}

TEST_CASE("markdown tables keep their columns whatever the data holds") {
  for (const auto& built : {toy_report(), hostile_report()}) {
    const std::string text = report::write(built, Format::Markdown);
    std::size_t columns = 0, begin = 0;
    while (begin < text.size()) {
      const std::size_t end = text.find('\n', begin);
      const std::string line = text.substr(begin, end - begin);
      begin = end + 1;
      if (line.empty() || line[0] != '|') {
        columns = 0;
        continue;
      }
      const std::size_t bars = count(line, "|") - count(line, "\\|");
      if (columns == 0) columns = bars;
      CHECK_MESSAGE(bars == columns, line);
    }
  }
}

TEST_CASE("no stored text is markup in Markdown: not in headings, cells or paragraphs, of whatever field") {
  const std::string nasty = "x</h2><script>alert(1)</script> [a](javascript:b) `c` **d** <!-- \x1b[2J";
  auto built = hostile_report();
  built.template_name = nasty;
  built.summary = nasty;
  for (auto& device : built.devices) {
    device.name = nasty;
    device.hard.emplace_back(nasty, nasty);
  }
  for (auto& series : built.series) {
    series.policy = nasty;
    series.choices[nasty] = nasty;
    for (auto& problem : series.problems) problem.sizes[nasty] = 5;
  }
  const std::string text = report::write(built, Format::Markdown);
  REQUIRE(count(text, "alert(1)") > 10);
  for (const char* markup : {"<", "[a]", " `c`", " **d**", "\x1b"}) {
    CAPTURE(markup);
    CHECK(count(text, markup) == 0);
  }
  const std::string page = report::write(built, Format::Html);
  CHECK(count(page, "<script>alert") == 0);
  CHECK(count(page, "\x1b") == 0);
}

TEST_CASE("csv gives a spreadsheet no formula, and numbers their minus") {
  auto built = toy_report();
  built.devices[0].name = "=HYPERLINK(\"x\")";
  built.series[0].problems[0].best->default_us = -1.5;
  const auto rows = parse_csv(report::write(built, Format::Csv));
  CHECK(field(rows, 1, "device") == "'=HYPERLINK(\"x\")");
  CHECK(field(rows, 1, "default_us") == "-1.5");
}

TEST_CASE("markdown tells origin, best, failures, effects and what is missing") {
  const std::string text = report::write(toy_report(), Format::Markdown);
  CHECK(contains(text, "**Measured on Toy &lt;GPU&gt; &amp; Sons by the tuning runs themselves.**"));
  CHECK(contains(text, "| n = 2^10 | block=128, stage=shuffle | 2.000 | 1.500 to 2.500 | 4.000 | 2.00× | 2.048 | 50.0 % | no |"));
  CHECK(contains(text, "| n = 2^12 | no valid configuration |"));
  CHECK(contains(text, "| n = 2^10 | wrong result | block=128, stage=tree | out\\[0\\] is 1, expected 2 | 1 |"));
  CHECK(contains(text, "| block | 64 (default) | 1.50× | 1.75× | 2 | 2 |"));
  CHECK(contains(text, "| n = 2^12 | not recorded | not recorded | 1 | 0 | 1 |"));
  CHECK(contains(text, "random, seed 7"));
}

TEST_CASE("a parameter with one value alone has no row of effects") {
  auto rows = toy_rows();
  rows.records = {record(1024, configuration_text(32, "tree"), 8.0), record(1024, configuration_text(64, "tree"), 4.0)};
  rows.best = {best_row(1024, configuration_text(64, "tree"), 4.0, 4.0)};
  const auto built = report::build(rows, {});
  const std::string page = report::write(built, Format::Html);
  CHECK(contains(page, "With one value alone, and so without an effect: <code>stage = tree</code></p>"));
  CHECK(count(page, "<span>stage</span>") == 0);
  CHECK(count(page, "<span>block</span>") == 2);  // the best and the median
  const std::string text = report::write(built, Format::Markdown);
  CHECK(!contains(text, "| stage |"));
  CHECK(contains(text, "|\n\nWith one value alone, and so without an effect: stage = tree\n"));  // a paragraph of its own
  rows.records = {record(1024, configuration_text(64, "tree"), 4.0)};
  const std::string fixed = report::write(report::build(rows, {}), Format::Markdown);
  CHECK(!contains(fixed, "Best with it"));  // no table of nothing
  CHECK(contains(fixed, "block = 64"));
  CHECK(contains(text, "| block | 32 |"));
}

}  // namespace test_writers
