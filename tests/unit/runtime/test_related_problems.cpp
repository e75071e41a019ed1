// What dispatch takes where a problem's own family has nothing: results of the problems that stand in for it.
#include <doctest/doctest.h>

#include "tests/unit/runtime/lookup_fixture.hpp"
#include "tuner/runtime/lookup.hpp"
#include "tuner/runtime/miss.hpp"

namespace test_related_problems {

using namespace attune;
using namespace attune::test;

namespace {

/// The template of the other lookup tests for data of a mode and a skew; block_size 64 serves no mode "c".
spec::KernelTemplate relating_template() {
  std::string text = kTwiceJson;
  const auto insert = [&](const std::string& before, const std::string& part) { text.insert(text.find(before), part); };
  insert(R"("n": {"size")", R"("mode": {"choice": ["a", "b", "c"], "default": "a", "stand_in": "a"},
    "skew": {"choice": ["unknown", "zipf", "hot"], "default": "unknown", "stand_in": "unknown"}, )");
  insert(R"("block_size > 32 or)", R"("mode != 'c' or block_size != 64", )");
  return spec::KernelTemplate::parse(text, {{"twice.cu", kTwiceSource}}, "twice/template.json");
}

spec::Problem problem(const std::string& mode, const std::string& skew, std::int64_t n = 1000) {
  return spec::canonical(relating_template(), {{{"T", "f32"}, {"mode", mode}, {"skew", skew}}, {{"n", n}}});
}

struct Fixture {
  TempFolder folder;
  spec::KernelTemplate kernel = relating_template();
  spec::DeviceInfo here = device("sm_90", "Here", 132);
  spec::DeviceInfo sibling = device("sm_90", "Sibling", 114);
  spec::DeviceInfo other = device("sm_80", "Other", 108);
  LayerFile user{folder / "user.db"};

  void tuned(const spec::Problem& of, int block_size, const spec::DeviceInfo& on) {
    auto row = best_row(kernel, of, on, configuration(block_size), "the source key of what was measured");
    row.cubin_key = "0123456789abcdef0123456789abcdef";
    user.add(row, on);
  }
  [[nodiscard]] runtime::Choice choose(const spec::Problem& asked) const {
    const auto opened = runtime::open_layers({user.path()});
    return runtime::choose(kernel, asked, here, opened.layers, {"cold/graph"});
  }
  [[nodiscard]] std::string donor(const spec::Problem& asked) const { return choose(asked).decision.donor_problem; }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "where a family has nothing, the problem that stands in for it serves, without its code and its time") {
  tuned(problem("a", "unknown"), 64, here);
  const auto choice = choose(problem("a", "zipf"));
  CHECK(choice.decision.tier == Tier::RelatedProblem);
  CHECK(choice.decision.donor_problem == R"({"T":"f32","n":1000})");
  CHECK(choice.decision.configuration == R"({"block_size":64,"blocks_per_sm":4,"style":"plain"})");
  CHECK(choice.decision.median_us == 0);
  CHECK(choice.cubin_key.empty());
  CHECK(choice.layer == 0);
  REQUIRE(choice.plan.steps.size() == 1);
  CHECK(choose(problem("a", "unknown")).decision.tier == Tier::ExactSize);
}

TEST_CASE_FIXTURE(Fixture, "any usable result of the own family comes first, also one of another architecture") {
  tuned(problem("a", "zipf", 50), 256, other);
  tuned(problem("a", "unknown"), 64, here);
  const auto choice = choose(problem("a", "zipf"));
  CHECK(choice.decision.tier == Tier::OtherDevice);
  CHECK(choice.decision.donor_problem == R"({"T":"f32","n":50,"skew":"zipf"})");
  CHECK(choice.cubin_key == "0123456789abcdef0123456789abcdef");
}

TEST_CASE_FIXTURE(Fixture, "nearer families come first: the last declared axis gives way, then the one before it as well") {
  tuned(problem("a", "unknown"), 64, here);
  CHECK(donor(problem("b", "hot")) == R"({"T":"f32","n":1000})");
  tuned(problem("a", "hot"), 32, here);  // of another mode: none that stands in while the skew is kept
  CHECK(donor(problem("b", "hot")) == R"({"T":"f32","n":1000})");
  tuned(problem("b", "unknown", 77), 256, other);
  CHECK(donor(problem("b", "hot")) == R"({"T":"f32","mode":"b","n":77})");
  CHECK(donor(problem("b", "unknown")) == R"({"T":"f32","mode":"b","n":77})");
  CHECK(choose(problem("c", "unknown")).decision.tier == Tier::Default);  // 64 serves no mode "c"
}

TEST_CASE_FIXTURE(Fixture,
                  "within a related family the lookup is the same: this device, a sibling, another architecture, the nearest size") {
  tuned(problem("a", "unknown", 1000), 256, other);
  CHECK(choose(problem("a", "hot")).decision.donor_device == "Other");
  tuned(problem("a", "unknown", 1000), 256, sibling);
  const auto from_sibling = choose(problem("a", "hot")).decision;
  CHECK(from_sibling.donor_device == "Sibling");
  CHECK(from_sibling.device_difference.find("sm_count 114 instead of 132") != std::string::npos);
  tuned(problem("a", "unknown", 10), 64, here);
  tuned(problem("a", "unknown", 100000), 256, here);
  const auto nearest = choose(problem("a", "hot", 20)).decision;
  CHECK(nearest.tier == Tier::RelatedProblem);
  CHECK(nearest.donor_device == "Here");
  CHECK(nearest.donor_problem == R"({"T":"f32","n":10})");
  CHECK(nearest.median_us == 0);
}

TEST_CASE_FIXTURE(
    Fixture,
    "a default that a table chose stands before what other devices tuned for the problem that stands in, at these very sizes too") {
  tuned(problem("a", "unknown", 1000), 64, sibling);
  CHECK(choose(problem("a", "hot", 1000)).decision.donor_device == "Sibling");
  spec::DefaultRow row;
  row.values = {{0, 2}, {2, 0}};
  kernel.defaults = {row};
  const auto decision = choose(problem("a", "hot", 1000)).decision;
  CHECK(decision.tier == Tier::Default);
  REQUIRE(decision.passed_over.size() == 1);
  CHECK(decision.passed_over.front().find("the template's table of defaults has a row for this problem") != std::string::npos);
  CHECK(choose(problem("a", "unknown", 1000)).decision.donor_device == "Sibling");  // its own problem
  tuned(problem("a", "unknown", 1000), 256, here);
  CHECK(choose(problem("a", "hot", 1000)).decision.tier == Tier::RelatedProblem);
}

TEST_CASE_FIXTURE(Fixture,
                  "what serves the other problem must satisfy the constraints of this one, and what does not is told after nearer rungs") {
  tuned(problem("c", "hot", 4096), 32, here);
  tuned(problem("a", "unknown", 5000), 64, here);
  const auto decision = choose(problem("c", "hot", 5000)).decision;
  CHECK(decision.tier == Tier::Default);
  REQUIRE(decision.passed_over.size() == 2);
  CHECK(decision.passed_over[0].starts_with(R"(nearest size: {"T":"f32","mode":"c","n":4096,"skew":"hot"} on Here)"));
  CHECK(decision.passed_over[1] ==
        R"(related problem: {"T":"f32","n":5000} on Here ()" + user.path().string() +
            R"(): {"block_size":64,"blocks_per_sm":4,"style":"plain"} violates 'mode != 'c' or block_size != 64' here)");
}

TEST_CASE_FIXTURE(Fixture, "results of the own family under another policy are told where a related one serves") {
  auto hot = best_row(kernel, problem("a", "zipf"), here, configuration(256));
  hot.policy = "hot/graph";
  user.add(hot, here);
  tuned(problem("a", "unknown"), 64, here);
  const auto decision = choose(problem("a", "zipf")).decision;
  CHECK(decision.tier == Tier::RelatedProblem);
  REQUIRE(decision.passed_over.size() == 1);
  CHECK(decision.passed_over[0].find("tuned for another policy") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "a related result is a miss all the same") {
  tuned(problem("a", "unknown"), 64, here);
  const auto opened = runtime::open_layers({user.path()});
  CHECK(runtime::is_miss(kernel, problem("a", "zipf"), here, opened.layers, {"cold/graph"}, 4));
  CHECK_FALSE(runtime::is_miss(kernel, problem("a", "unknown"), here, opened.layers, {"cold/graph"}, 4));
}

TEST_CASE_FIXTURE(Fixture, "a described decision says that another problem lends, which one, and no time") {
  tuned(problem("a", "unknown"), 64, here);
  const std::string text = describe(choose(problem("a", "zipf")).decision);
  CHECK(text.starts_with("tier:          related problem (tuned for another problem, which stands in for this one)\n"));
  CHECK(text.find("record:        {\"T\":\"f32\",\"n\":1000} on Here\n") != std::string::npos);
}

}  // namespace test_related_problems
