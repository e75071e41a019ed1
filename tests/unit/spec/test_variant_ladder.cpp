#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "spec_support.hpp"
#include "tests/support/temp_folder.hpp"
#include "tuner/spec/condition.hpp"
#include "tuner/spec/variant_ladder.hpp"

namespace test_variant_ladder {

using namespace attune;
using namespace attune::spec;
using namespace attune::spec::test;

namespace {

std::string sample_ladder() {
  return R"json({
  "attune_ladder": 1,
  "defaults": {"op": "sum"},
  "tables": ["block_size"],
  "rungs": [
    {"name": "naive", "why": "a beginning", "where": "stage == 'atomic'",
     "published": [{"text": "1 GB/s", "hardware": "X100", "source": "a paper"}]},
    {"name": "better", "why": "no contention", "where": "stage == 'two_pass' and n > 1 and device.sm_count > 0"}
  ]
})json";
}

VariantLadder parse_ladder(const std::string& text = sample_ladder()) { return VariantLadder::parse(parse_sample(), text, "l.json"); }

struct Wrong {
  const char* from;
  const char* to;
  const char* message;  ///< whole, or its beginning
};

}  // namespace

TEST_CASE("a ladder keeps the order of its rungs, their conditions and published figures") {
  const auto ladder = parse_ladder();
  REQUIRE(ladder.rungs.size() == 2);
  CHECK(ladder.rungs[0].name == "naive");
  CHECK(ladder.rungs[1].where.expression.text() == "stage == 'two_pass' and n > 1 and device.sm_count > 0");
  REQUIRE(ladder.rungs[0].published.size() == 1);
  CHECK(ladder.rungs[0].published[0].hardware == "X100");
  CHECK(ladder.defaults.at("op") == "sum");
  CHECK(ladder.tables == std::vector<std::string>{"block_size"});
}

TEST_CASE("what is wrong with a ladder is told with file, line and column") {
  const Wrong all[] = {
      {"stage == 'atomic'", "stag == 'atomic'",
       "l.json:6:55: unknown variable 'stag' in the expression \"stag == 'atomic'\"; did you mean 'stage'?"},
      {"stage == 'atomic'", "stage ==", "l.json:6:"},
      {"stage == 'atomic'", "grid > 1", "l.json:6:55: 'grid' is a let, which a condition cannot use,"},
      {"stage == 'atomic'", "in > 1", "l.json:6:"},
      {"stage == 'atomic'", "", "l.json:6:54: \"where\" of the rung 'naive' is empty"},
      {R"("why": "a beginning", )", "", "l.json:6:5: a rung lacks \"why\""},
      {R"("a beginning", )", R"("a beginning", "sample": 0, )",
       "l.json:6:55: \"sample\" of the rung 'naive' is 0; give a number of configurations from 1 up"},
      {R"("a beginning", )", R"("a beginning", "sample": "7", )", "l.json:6:55:"},
      {R"("why")", R"("reason")", "l.json:6:23: unknown key 'reason' in a rung"},
      {R"("source": "a paper")", R"("origin": "a paper")", "l.json:7:59: unknown key 'origin'"},
      {R"(, "source": "a paper")", "", "l.json:7:20: a published figure of the rung 'naive' lacks \"source\""},
      {R"("name": "better")", R"("name": "naive")", "l.json:8:5: there are two rungs 'naive'"},
      {R"({"op": "sum"})", R"({"op": "max"})", "l.json:3:22: the default 'max' of 'op' is not among its values: sum, max-abs"},
      {R"({"op": "sum"})", R"({"n": "sum"})", "l.json:3:16: \"defaults\" names 'n'"},
      {R"(["block_size"])", R"(["blok_size"])",
       "l.json:4:14: \"tables\" names 'blok_size', which is no parameter of the template; did you mean 'block_size'?"},
      {R"("attune_ladder": 1)", R"("attune_ladder": 2)", "l.json:2:20: format version 2"},
      {R"("tables")", R"("rungz")", "l.json:4:3: unknown key 'rungz' in the ladder"},
  };
  for (const auto& wrong : all) {
    const std::string error = error_of([&] { static_cast<void>(parse_ladder(replaced(sample_ladder(), wrong.from, wrong.to))); });
    CAPTURE(wrong.to);
    CHECK_MESSAGE(error.starts_with(wrong.message), error);
  }
}

TEST_CASE("a rung keeps how many of its configurations are a sample, none when it does not say") {
  const auto ladder = parse_ladder(replaced(sample_ladder(), R"("a beginning", )", R"("a beginning", "sample": 12, )"));
  CHECK(ladder.rungs[0].sample == 12);
  CHECK(ladder.rungs[1].sample == 0);
}

TEST_CASE("a ladder without rungs is refused") {
  CHECK(contains(error_of([] { static_cast<void>(parse_ladder(R"({"attune_ladder": 1, "rungs": []})")); }), "\"rungs\" is empty"));
  CHECK(contains(error_of([] { static_cast<void>(parse_ladder(R"({"attune_ladder": 1})")); }), "lacks \"rungs\""));
}

TEST_CASE("the ladder beside a template is found, is no part of its content hash, and does no harm when it is wrong") {
  const attune::test::TempFolder folder;
  std::ofstream(folder / "template.json") << sample_template();
  std::ofstream(folder / "sample.cu") << "// sample\n";
  const auto without = KernelTemplate::load(folder.path());
  CHECK_FALSE(VariantLadder::of(without).has_value());
  std::ofstream(folder / "ladder.json") << sample_ladder();
  const auto with = KernelTemplate::load(folder.path());
  CHECK(with.content_hash == without.content_hash);
  CHECK(VariantLadder::of(with)->rungs.size() == 2);
  std::ofstream(folder / "ladder.json") << "{";
  const auto broken = KernelTemplate::load(folder.path());
  CHECK(error_of([&] { static_cast<void>(VariantLadder::of(broken)); }).starts_with((folder / "ladder.json").string() + ":1:"));
}

TEST_CASE("the values of the parameters that a condition names are told") {
  const auto kernel = parse_sample();
  const auto condition = parse_condition(kernel, "stage == 'x' and waves > n", {"--where", 1, 1});
  CHECK(values_of_named_parameters(kernel, {condition}) == "stage: two_pass, atomic; waves: 1, 2");
  CHECK(values_of_named_parameters(kernel, {parse_condition(kernel, "n > 5", {"--where", 1, 1})}).empty());
}

}  // namespace test_variant_ladder
