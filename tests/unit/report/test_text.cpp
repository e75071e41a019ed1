#include "tuner/report/text.hpp"

#include <doctest/doctest.h>

#include "tests/unit/report/rows_fixture.hpp"
#include "tuner/report/html_text.hpp"
#include "tuner/report/rows.hpp"

namespace test_text {

using namespace attune::report;

TEST_CASE("numbers have four significant digits and no exponent") {
  CHECK(format_number(1.23456) == "1.235");
  CHECK(format_number(12.3456) == "12.35");
  CHECK(format_number(123.456) == "123.5");
  CHECK(format_number(1234.56) == "1235");
  CHECK(format_number(1234567.0) == "1234567");
  CHECK(format_number(0.012345) == "0.01235");
  CHECK(format_number(0) == "0");
  CHECK(format_number(9.99996) == "10.00");
}

TEST_CASE("rates, shares, ratios and bytes carry their units") {
  CHECK(format_gb_per_s(4.57e12) == "4570");
  CHECK(format_percent(0.943) == "94.3 %");
  CHECK(format_percent(0.0005) == "0.05 %");
  CHECK(format_ratio(1.5) == "1.50×");
  CHECK(format_bytes(100) == "100 B");
  CHECK(format_bytes(62914560) == "60 MiB");
  CHECK(format_bytes(1536) == "1.5 KiB");
  CHECK(format_bytes(0) == "0 B");
}

TEST_CASE("problems and configurations read as equations") {
  CHECK(sizes_text({{"n", 1048576}}) == "n = 2^20");
  CHECK(sizes_text({{"m", 3}, {"n", 1000}}) == "m = 3, n = 1000");
  CHECK(sizes_text({}) == "-");
  CHECK(choices_text({{"T", "f32"}, {"op", "sum"}}) == "T = f32, op = sum");
  CHECK(configuration_text(R"({"b":256,"s":"two_pass"})") == "b=256, s=two_pass");
  CHECK(configuration_text("not JSON") == "not JSON");
}

TEST_CASE("every policy has words and an unknown one is shown as it is") {
  CHECK(policy_text("cold/graph") == "cold L2, CUDA graph");
  CHECK(policy_text("hot/graph") == "hot L2, CUDA graph");
  CHECK(policy_text("cold/stream") == "cold L2, plain launches");
  CHECK(policy_text("hot/stream") == "hot L2, plain launches");
  CHECK(policy_text("warm") == "warm");
}

TEST_CASE("dates of one day are shortened, none is said to be not recorded") {
  CHECK(date_text("2026-03-04T05:06:07Z", "2026-03-04T06:00:00Z") == "2026-03-04 05:06 to 06:00 UTC");
  CHECK(date_text("2026-03-04T05:06:07Z", "2026-03-05T06:00:00Z") == "2026-03-04 05:06 UTC to 2026-03-05 06:00 UTC");
  CHECK(date_text("2026-03-04T05:06:07Z", "") == "2026-03-04 05:06 UTC");
  CHECK(date_text("2026-03-04T05:06:07Z", "2026-03-04T05:06:59Z") == "2026-03-04 05:06 UTC");
  CHECK(date_text("yesterday", "") == "yesterday");
  CHECK(date_text("", "") == kNotRecorded);
  CHECK(list_text({}) == kNotRecorded);
}

TEST_CASE("a report says whether its times were measured or replayed") {
  Report report;
  report.devices.push_back({});
  report.devices[0].name = "Toy";
  CHECK(origin_statement(report).find("not recorded") != std::string::npos);
  report.origins = {"measured"};
  CHECK(origin_statement(report).rfind("Measured on Toy", 0) == 0);
  report.origins = {"recording:toy.zst"};
  CHECK(origin_statement(report).rfind("Not measured", 0) == 0);
  CHECK(origin_statement(report).find("toy.zst") != std::string::npos);
  report.origins = {"recording:toy.zst", "measured"};
  CHECK(origin_statement(report).rfind("Partly measured", 0) == 0);
}

TEST_CASE("the ceiling is named measured or theoretical") {
  Series series;
  CHECK(ceiling_statement(series).find("not recorded") != std::string::npos);
  series.ceiling = Ceiling{4.57e12, Ceiling::Kind::Measured};
  CHECK(ceiling_statement(series).find("4570 GB/s, the best pure read measured") != std::string::npos);
  series.ceiling->kind = Ceiling::Kind::Theoretical;
  CHECK(ceiling_statement(series).find("theoretical") != std::string::npos);
}

TEST_CASE("clocks and what held them down read as a sentence's part") {
  CHECK(clock_text(std::optional<Clocks>()) == kNotRecorded);
  CHECK(throttle_text({}, 340) == kNotRecorded);
  Clocks clocks;
  clocks.throttled = 1;
  clocks.reasons = {{"sync_boost", 1}};
  CHECK(clock_text(clocks) == kNotRecorded);
  CHECK(throttle_text(clocks, 340) == "1 of 340 (sync_boost 1)");
  clocks = {5, 1980, 1980, 0, {}};
  CHECK(clock_text(clocks) == "1980 MHz");
  CHECK(throttle_text(clocks, 340) == "none");
  clocks = {300, 1755, 1980, 12, {{"power_cap", 12}, {"thermal_sw", 3}}};
  CHECK(clock_text(clocks) == "1755 to 1980 MHz");
  CHECK(throttle_text(clocks, 340) == "12 of 340 (power_cap 12, thermal_sw 3)");
  Best best;
  CHECK(clock_text(best) == kNotRecorded);
  best.sm_clock_mhz = 1620;
  CHECK(clock_text(best) == "1620 MHz");
  best.throttle = "power_cap";
  CHECK(clock_text(best) == "1620 MHz, throttled: power_cap");
}

TEST_CASE("device fields that the driver did not tell are said to be not recorded") {
  const Device device = read_device(attune::test::toy_device());
  const auto value = [](const auto& fields, const std::string& label) {
    for (const auto& [name, text] : fields) {
      if (name == label) return text;
    }
    return std::string("no such field");
  };
  CHECK(value(device.hard, "L2 cache") == "60 MiB");
  CHECK(value(device.hard, "Memory bus") == "1024 bit");
  CHECK(value(device.hard, "Warp size") == kNotRecorded);
  CHECK(value(device.soft, "Memory clock") == "1000 MHz");
  CHECK(value(device.soft, "Power limit") == kNotRecorded);
  CHECK(value(device.soft, "ECC") == "yes");
}

TEST_CASE("markup in data is escaped") {
  CHECK(escape_html("<a href=\"x\">'&'</a>") == "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
  CHECK(escape_script_json("{\"a\":\"</script>&\"}") == "{\"a\":\"\\u003c/script\\u003e\\u0026\"}");
  CHECK(sizes_html({{"<n>", 1048576}}) == "&lt;n&gt;&nbsp;=&nbsp;2<sup>20</sup>");
  CHECK(sizes_html({}) == "&ndash;");
}

TEST_CASE("a decimal column pads numbers to its longest fraction and leaves words alone") {
  HtmlTable table({{"Name", HtmlTable::Kind::Text}, {"us", HtmlTable::Kind::Decimal}});
  table.add({"a", "1.25"});
  table.add({"b", "30"});
  table.add_group("rest");
  table.add({"c", "none"}, {"", "missing"});
  const std::string html = table.html();
  CHECK(html.find("<td class=\"num\">1.25</td>") != std::string::npos);
  CHECK(html.find("<td class=\"num\">30<span class=\"pad\" aria-hidden=\"true\">.00</span></td>") != std::string::npos);
  CHECK(html.find("<td class=\"num missing\">none</td>") != std::string::npos);
  CHECK(html.find("colspan=\"2\"><span>rest</span>") != std::string::npos);
}

}  // namespace test_text
