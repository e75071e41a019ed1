// Results whose code serves only the sizes that it was compiled for.
#include <doctest/doctest.h>

#include "tests/unit/runtime/lookup_fixture.hpp"
#include "tuner/base/json.hpp"
#include "tuner/runtime/code_store.hpp"
#include "tuner/runtime/lookup.hpp"

namespace test_specialised {

using namespace attune;
using namespace attune::test;

namespace {

/// The template of the other lookup tests with a switch that specialises on n.
spec::KernelTemplate specialising_template() {
  std::string text = kTwiceJson;
  const std::string before = R"("style":)";
  text.insert(text.find(before), R"("exact_n": {"values": [false, true], "default": false, "specialise": ["n"]}, )");
  return spec::KernelTemplate::parse(text, {{"twice.cu", kTwiceSource}}, "twice/template.json");
}

std::string with_exact(bool exact, int block_size = 64) {
  return base::dump_json(nlohmann::json{{"block_size", block_size}, {"style", "plain"}, {"blocks_per_sm", 4}, {"exact_n", exact}});
}

struct Fixture {
  TempFolder folder;
  spec::KernelTemplate kernel = specialising_template();
  spec::DeviceInfo here = device("sm_90", "Here", 132);
  LayerFile user{folder / "user.db"};

  void tuned(std::int64_t n, const std::string& winner, const std::map<std::string, double>& medians_us = {},
             const std::map<std::string, double>& ratios = {}) {
    auto row = best_row(kernel, twice_problem(n), here, winner, "the source key of what was measured");
    if (!ratios.empty()) {
      nlohmann::json finalists = nlohmann::json::array();
      for (const auto& [finalist, ratio] : ratios) finalists.push_back({{"configuration", finalist}, {"ratio", ratio}});
      row.detail_json = base::dump_json({{"finalists", finalists}});
    }
    row.cubin_key = "0123456789abcdef0123456789abcdef";
    user.add(row, here);
    user.add_measured(row, medians_us);
  }
  runtime::Choice choose(std::int64_t n) const {
    const auto opened = runtime::open_layers({user.path()});
    return runtime::choose(kernel, twice_problem(n), here, opened.layers, {"cold/graph"});
  }
  std::string source(std::int64_t n, const std::string& chosen) const {
    return spec::make_source(kernel, twice_problem(n), spec::configuration_from_text(kernel, chosen), here);
  }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a result specialised on its size is dispatched as it is at that size") {
  tuned(1000, with_exact(true));
  const auto choice = choose(1000);
  CHECK(choice.decision.tier == Tier::ExactSize);
  CHECK(choice.decision.configuration == with_exact(true));
  CHECK(choice.cubin_key == "0123456789abcdef0123456789abcdef");
  CHECK(choice.decision.median_us == 3.5);
}

TEST_CASE_FIXTURE(Fixture, "at any other size its general form takes its place, without its code and its time, and explain says so") {
  tuned(1000, with_exact(true));
  for (const std::int64_t n : {999, 1001, 4000}) {
    CAPTURE(n);
    const auto choice = choose(n);
    CHECK(choice.decision.tier == Tier::NearestSize);
    CHECK(choice.decision.configuration == with_exact(false));
    CHECK(choice.cubin_key.empty());
    CHECK(choice.decision.median_us == 0);
    CHECK(choice.decision.forecast.find("specialised on {\"n\":1000}") != std::string::npos);
  }
}

TEST_CASE_FIXTURE(Fixture, "a result of another device that is specialised on other sizes is taken in its general form as well") {
  const auto sibling = device("sm_90", "Sibling", 114);
  user.add(best_row(kernel, twice_problem(1000), sibling, with_exact(true)), sibling);
  CHECK(choose(2000).decision.configuration == with_exact(false));
  CHECK(choose(1000).decision.configuration == with_exact(true));
}

TEST_CASE_FIXTURE(Fixture, "between sizes the general forms are compared, by their own measurements") {
  tuned(1000, with_exact(true, 64), {{with_exact(true, 64), 1.0}, {with_exact(false, 64), 3.0}, {with_exact(false, 256), 2.0}});
  tuned(4000, with_exact(true, 256), {{with_exact(true, 256), 1.0}, {with_exact(false, 256), 2.0}, {with_exact(false, 64), 3.0}});
  CHECK(choose(1900).decision.configuration == with_exact(false, 256));  // though 1000, which 64 won, is the nearer one
}

TEST_CASE_FIXTURE(Fixture, "only specialised code depends on the size") {
  CHECK(source(1000, with_exact(true)).find("#define ATTUNE_N 1000\n") != std::string::npos);
  CHECK(source(1000, with_exact(true)) != source(1001, with_exact(true)));
  CHECK(source(1000, with_exact(false)).find("ATTUNE_N") == std::string::npos);
  CHECK(source(1000, with_exact(false)) == source(1001, with_exact(false)));
}

TEST_CASE_FIXTURE(Fixture, "what ran off beside a specialised winner took its ratio of the winner's time, not of the general form's") {
  const std::string standard = spec::to_text(kernel, spec::default_configuration(kernel));
  for (const std::int64_t n : {1000, 2000}) {
    tuned(n, with_exact(true), {{with_exact(true), 2.0}, {with_exact(false), 2.3}, {standard, 2.25}},
          {{with_exact(true), 1.0}, {standard, 1.1}});
  }
  const auto choice = choose(1500);
  CHECK(choice.decision.configuration == standard);
  CHECK(choice.decision.forecast.find("from 2.2 us at") != std::string::npos);
}

}  // namespace test_specialised
