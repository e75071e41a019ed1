#include "tuner/report/parameter_shares.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tests/unit/report/rows_fixture.hpp"
#include "tuner/base/json.hpp"
#include "tuner/report/writers.hpp"

namespace test_parameter_shares {

using namespace attune;
using namespace attune::test;
using nlohmann::json;
using report::Format;
using report::ParameterShares;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

using TimeOf = double (*)(int block, int items, const std::string& stage);

/// What makes a time: `block` alone, in steps of factor two.
double by_block(int block, int /*items*/, const std::string& /*stage*/) { return std::pow(2.0, block); }
/// `block` and `items` alike, as products of independent factors.
double by_both(int block, int items, const std::string& /*stage*/) { return std::pow(2.0, block + items); }

/// 8 blocks by 8 items by two stages, and a parameter of one value: 128 configurations.
std::vector<db::RecordRow> records_of(TimeOf time_us, int blocks = 8) {
  std::vector<db::RecordRow> rows;
  for (int block = 0; block < blocks; ++block) {
    for (int items = 0; items < 8; ++items) {
      for (const std::string stage : {"shuffle", "tree"}) {
        const json configuration = {{"block", block + 1}, {"fixed", 7}, {"items", items + 1}, {"stage", stage}};
        rows.push_back(record(1024, base::dump_json(configuration), time_us(block, items, stage)));
      }
    }
  }
  return rows;
}

std::optional<ParameterShares> shares_of(const std::vector<db::RecordRow>& rows) {
  std::vector<const db::RecordRow*> records;
  for (const auto& row : rows) records.push_back(&row);
  return report::parameter_shares(records);
}

std::vector<std::string> names_of(const ParameterShares& shares) {
  std::vector<std::string> names;
  for (const auto& one : shares.parameters) names.push_back(one.parameter);
  return names;
}

report::Report toy_shares() {
  auto rows = toy_rows();
  rows.records = records_of(by_block);
  rows.records.push_back(record(4096, configuration_text(64, "tree"), 5.0));
  return report::build(rows, {});
}

}  // namespace

TEST_CASE("a parameter that alone makes the times has a share near 1 and comes first, others have next to none") {
  const auto shares = shares_of(records_of(by_block));
  REQUIRE(shares);
  CHECK(shares->learnt_from == 128);
  REQUIRE(shares->parameters.size() == 3);
  CHECK(shares->parameters[0].parameter == "block");
  CHECK(shares->parameters[0].share == doctest::Approx(1).epsilon(0.15));
  for (const auto& one : shares->parameters) {
    CAPTURE(one.parameter);
    CHECK(one.low <= one.share);
    CHECK(one.share <= one.high);
    if (one.parameter != "block") CHECK(one.share < 0.05);
  }
}

TEST_CASE("two parameters that make the times alike share them") {
  const auto shares = shares_of(records_of(by_both));
  REQUIRE(shares);
  CHECK(shares->parameters[2].parameter == "stage");
  for (const std::size_t place : {0, 1}) CHECK(shares->parameters[place].share == doctest::Approx(0.5).epsilon(0.3));
}

TEST_CASE("a parameter of one value has no share, and neither has one of what failed alone") {
  auto rows = records_of(by_block);
  for (std::size_t i = 0; i < 12; ++i) {
    json configuration = base::parse_json(rows[i].configuration);
    configuration["fixed"] = 8;
    rows.push_back(record(1024, base::dump_json(configuration), 0, "timed_out"));
  }
  const auto shares = shares_of(rows);
  REQUIRE(shares);
  CHECK(shares->learnt_from == 128);
  const auto names = names_of(*shares);
  CHECK(std::find(names.begin(), names.end(), "fixed") == names.end());
}

TEST_CASE("nothing is told of fewer than 100 times, of times that are the same, and of parameters that make no difference") {
  CHECK(!shares_of(records_of(by_block, 6)));  // 96
  CHECK(shares_of(records_of(by_block, 7)));   // 112
  CHECK(!shares_of(records_of([](int, int, const std::string&) { return 3.0; })));
  // As good as noise: a hash of the configuration.
  CHECK(!shares_of(records_of([](int block, int items, const std::string& stage) {
    std::uint64_t mixed = static_cast<std::uint64_t>(block * 64 + items * 4 + (stage == "tree" ? 1 : 0)) + 1;
    for (int i = 0; i < 8; ++i) mixed = (mixed ^ (mixed >> 29)) * 0xbf58476d1ce4e5b9ULL;
    return 1.0 + static_cast<double>(mixed >> 40) / 1e6;
  })));
}

TEST_CASE("records with other parameters, or with values that are none, are passed over") {
  auto rows = records_of(by_block);
  for (const char* other : {R"({"block":1})", R"({"block":1,"fixed":7,"items":null,"stage":"tree"})",
                            R"({"block":18446744073709551615,"fixed":7,"items":1,"stage":"tree"})", "no json",
                            R"({"block":1,"fixed":7,"items":[1],"stage":"tree"})"}) {
    rows.push_back(record(1024, other, 1000.0));
  }
  const auto shares = shares_of(rows);
  REQUIRE(shares);
  CHECK(shares->learnt_from == 128);
}

TEST_CASE("of very many times a thousand are learnt from, the same ones each time, whatever their order of counting") {
  std::vector<db::RecordRow> rows;
  for (int i = 0; i < 8192; ++i) {
    const json configuration = {{"fast", i % 8}, {"slow", i / 8}};
    rows.push_back(record(1024, base::dump_json(configuration), std::pow(2.0, i % 8)));
  }
  const auto shares = shares_of(rows), again = shares_of(rows);
  REQUIRE(shares);
  CHECK(shares->learnt_from == 1000);
  CHECK(shares->parameters[0].parameter == "fast");
  CHECK(shares->parameters[0].share == again->parameters[0].share);
}

TEST_CASE("json, csv, markdown and html tell each share with its interval, and of how many configurations") {
  const auto built = toy_shares();
  const auto problems = base::parse_json(report::write(built, Format::Json)).at("series").at(0).at("problems");
  CHECK(problems.at(1).at("shares").is_null());
  const auto shares = problems.at(0).at("shares");
  CHECK(shares.at("learnt_from") == 128);
  const auto first = shares.at("parameters").at(0);
  CHECK(first.at("parameter") == "block");
  const double share = first.at("share"), low = first.at("low"), high = first.at("high");
  CHECK(low <= share);
  CHECK(share <= high);

  const std::string csv = report::write(built, Format::Csv);
  CHECK(contains(csv, ",shares_learnt_from,share_of_block,share_low_of_block,share_high_of_block,share_of_items,"));
  CHECK(contains(csv, fmt::format(",128,{},{},{},", share, low, high)));
  CHECK(csv.ends_with(",,,,,,,,,,\r\n"));  // a problem without shares

  const std::string interval = fmt::format("{:.2f} to {:.2f}", low, high);
  const std::string text = report::write(built, Format::Markdown);
  CHECK(contains(text, "### Which parameters matter"));
  CHECK(contains(text, "\nn = 2^10: 128 configurations\n"));
  CHECK(contains(text, fmt::format("| block | {:.2f} | {} |", share, interval)));

  const std::string page = report::write(built, Format::Html);
  CHECK(contains(page, "data-chart=\"shares\""));
  CHECK(contains(page, "<select data-shares=\"0\"><option value=\"0\" selected>n = 2^10: 128 configurations</option></select>"));
  CHECK(contains(page, fmt::format(">{:.2f} <span class=\"missing\">{:.2f}&thinsp;&ndash;&thinsp;{:.2f}</span>", share, low, high)));
  for (const auto& written : {text, page})
    CHECK(contains(written, "a forest of 100 trees explains no more once the values of the parameter are mixed"));
}

TEST_CASE("where too little was measured html says so, and markdown has no table") {
  const auto built = report::build(toy_rows(), {});
  const std::string page = report::write(built, Format::Html);
  CHECK(contains(page, "Too little was measured to tell"));
  CHECK(!contains(page, "data-chart=\"shares\""));
  CHECK(!contains(report::write(built, Format::Markdown), "Which parameters matter"));
}

}  // namespace test_parameter_shares
