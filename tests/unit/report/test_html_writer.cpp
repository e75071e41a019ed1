// The page that report::write makes of a report: Format::Html of tuner/report/writers.hpp.
#include <doctest/doctest.h>

#include "tests/unit/report/report_fixture.hpp"
#include "tuner/base/json.hpp"
#include "tuner/report/writers.hpp"

namespace test_html_writer {

using namespace attune;
using namespace attune::test;
using report::Format;

namespace {

/// What stands between the first `opening` and the next `closing`; empty where one is missing.
std::string between(const std::string& text, const std::string& opening, const std::string& closing) {
  const std::size_t begin = text.find(opening);
  if (begin == std::string::npos) return "";
  const std::size_t end = text.find(closing, begin + opening.size());
  return end == std::string::npos ? "" : text.substr(begin + opening.size(), end - begin - opening.size());
}

}  // namespace

TEST_CASE("html is one file without any outside reference") {
  const std::string page = report::write(toy_report(), Format::Html);
  CHECK(page.rfind("<!DOCTYPE html>", 0) == 0);
  CHECK(contains(page, "default-src 'none'"));
  CHECK(contains(page, "Chart.js v"));
  CHECK(count(page, " src=") == 0);
  CHECK(count(page, "<link") == 0);
  CHECK(count(page, "@import") == 0);
  CHECK(count(page, "url(") == 0);
  CHECK(count(page, "@@") == 0);
  CHECK(contains(page, "prefers-color-scheme: dark"));
  CHECK(contains(page, "name=\"viewport\""));
}

TEST_CASE("every table of the page scrolls in a frame of its own, whose edges have a shadow where columns are hidden") {
  const std::string page = report::write(toy_report(), Format::Html);
  const std::string style = between(page, "<style>", "</style>");
  const std::string frame = between(style, "\n.scroll {", "}");
  CHECK(contains(frame, "overflow-x: auto"));
  const auto layer = [&](std::size_t begin) {
    return frame.substr(begin, frame.find_first_of(",;", frame.find("no-repeat", begin)) - begin);
  };
  // At either edge a shadow that stays there, and what scrolls along and covers it: what is named first lies on top.
  for (const std::string side : {"right", "left"}) {
    CAPTURE(side);
    const std::size_t cover = frame.find("linear-gradient(to " + side + ", var(--page)");
    const std::size_t shadow = frame.find("linear-gradient(to " + side + ", var(--shade)");
    REQUIRE(cover != std::string::npos);
    REQUIRE(shadow != std::string::npos);
    CHECK(cover < shadow);
    CHECK(layer(cover).ends_with("no-repeat local"));
    CHECK(layer(shadow).ends_with("no-repeat scroll"));
  }
  CHECK(count(style, "--shade:") == 2);  // of light and of dark pages
  const std::string body = page.substr(page.find("<body"));
  REQUIRE(count(body, "<table") > 5);
  CHECK(count(body, "<table") == count(body, "<div class=\"scroll\"><table>"));
}

TEST_CASE("html escapes every piece of data, in markup and in the script") {
  const std::string clean = report::write(toy_report(), Format::Html);
  const std::string page = report::write(hostile_report(), Format::Html);
  CHECK(count(page, "<script") == count(clean, "<script"));
  CHECK(count(page, "</script") == count(clean, "</script"));
  CHECK(contains(page, "&lt;/script&gt;&lt;script&gt;alert(&quot;1&quot;)"));
  CHECK(contains(page, "Toy &lt;GPU&gt; &amp; Sons"));
  CHECK(count(page, "<GPU>") == 0);
}

TEST_CASE("html carries the same data as json") {
  const auto built = toy_report();
  const std::string page = report::write(built, Format::Html);
  const std::string opening = "<script type=\"application/json\" id=\"report-data\">";
  const std::size_t begin = page.find(opening) + opening.size();
  const std::string data = page.substr(begin, page.find("</script>", begin) - begin);
  CHECK(base::parse_json(data) == base::parse_json(report::write(built, Format::Json)));
}

TEST_CASE("html shows every number in a table, with charts for who has scripts") {
  const std::string page = report::write(toy_report(), Format::Html);
  for (const char* text : {"2.000", "1.500&thinsp;&ndash;&thinsp;2.500", "4.000", "2.00×", "50.0 %", "no valid configuration",
                           "out[0] is 1, expected 2", "wrong result", "random, seed 7", "60 MiB"}) {
    CAPTURE(text);
    CHECK(contains(page, text));
  }
  for (const char* chart : {"times", "share", "convergence", "effects", "failures"}) {
    CAPTURE(chart);
    CHECK(count(page, std::string("data-chart=\"") + chart + "\"") == 1);
  }
}

TEST_CASE("what the best configurations of several problems all have in common is told once, above the table of what differs") {
  auto rows = toy_rows();
  rows.records.push_back(record(4096, configuration_text(64, "shuffle"), 5.0));
  rows.best.push_back(best_row(4096, configuration_text(64, "shuffle"), 5.0, 6.0));
  const std::string page = report::write(report::build(rows, {}), Format::Html);
  CHECK(contains(page, "The same in every best configuration: <code>stage = shuffle</code></p>"));
  CHECK(count(page, ">stage</th>") == 0);
  CHECK(count(page, ">block</th>") == 1);
  const std::string alone = report::write(toy_report(), Format::Html);
  CHECK(!contains(alone, "The same in every best configuration"));
  CHECK(count(alone, ">stage</th>") == 1);
}

TEST_CASE("html without failures, finalists, sessions or effects says so") {
  auto rows = toy_rows();
  rows.records.clear();
  rows.best[0].detail_json = "{}";
  const std::string page = report::write(report::build(rows, {}), Format::Html);
  CHECK(contains(page, "No stored configuration failed."));
  CHECK(contains(page, "The finalists of the run-off were not recorded."));
  CHECK(contains(page, "Tuning sessions: not recorded."));
  CHECK(contains(page, "Measurements of single configurations are not recorded."));
  CHECK(contains(page, "The course of the search was not recorded."));
}

TEST_CASE("html lists its sections when there are several") {
  auto rows = toy_rows();
  CHECK(count(report::write(report::build(rows, {}), Format::Html), "<nav") == 0);
  rows.records[0].policy = "hot/stream";
  const std::string page = report::write(report::build(rows, {}), Format::Html);
  CHECK(count(page, "href=\"#series-") == 2);
  CHECK(contains(page, "id=\"series-1\""));
}

}  // namespace test_html_writer
