#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/histogram_template.hpp"
#include "tuner/verify/cases.hpp"
#include "tuner/verify/patterns.hpp"
#include "tuner/verify/programs.hpp"

namespace test_cases {

using namespace attune;

namespace {

const spec::DeviceInfo kDevice = spec::DeviceInfo::of_architecture("sm_90");

/// `work`: of the template; empty: it tells nothing.
spec::KernelTemplate make(const std::string& sizes, const std::string& count, const std::string& work = "") {
  return spec::KernelTemplate::parse(R"({"attune": 1, "name": "t", "sources": ["k.cu"], "problem": {"T": {"type": ["f32", "i8"]}, )" +
                                         sizes + R"(},
      "parameters": {"p": {"values": [1, 2], "default": 2}},
      "buffers": {"in": {"type": "T", "count": ")" +
                                         count + R"("}, "out": {"type": "f32", "count": "1", "output": true},
                  "scratch": {"type": "u64", "count": "p * 100", "workspace": true}},
      "launches": [{"kernel": "k", "grid": "1", "block": "32", "args": ["in", "out"]}], "reference": "none")" +
                                         (work.empty() ? "" : R"(, "work": {"operations": ")" + work + "\"}") + "}",
                                     {{"k.cu", ""}}, "template.json");
}

/// One input, of `count` elements, with a fill.
spec::KernelTemplate filled(const std::string& type, const std::string& fill, const std::string& count = "m") {
  return spec::KernelTemplate::parse(R"({"attune": 1, "name": "t", "sources": ["k.cu"], "problem": {
      "n": {"size": {"min": 0}}, "m": {"size": {"min": 0}}},
      "parameters": {}, "buffers": {"out": {"type": "f32", "count": 1, "output": true},
      "in": {"type": ")" + type + R"(", "count": ")" +
                                         count + R"(", "fill": )" + fill + R"(}},
      "launches": [{"kernel": "k", "grid": 1, "block": 32, "args": ["in", "out"]}], "reference": "none"})",
                                     {{"k.cu", ""}}, "template.json");
}

const verify::CasePlan* find(const std::vector<verify::CasePlan>& cases, const std::string& label) {
  const auto found = std::find_if(cases.begin(), cases.end(), [&](const auto& one) { return one.label == label; });
  return found == cases.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("the asked problem comes first and unchanged, a ragged and a misaligned one follow") {
  const auto kernel = make(R"("n": {"size": {"min": 1}})", "n");
  const spec::Problem problem{{{"T", "f32"}}, {{"n", 1 << 20}}};
  const auto cases = verify::plan_cases(kernel, problem, kDevice);
  REQUIRE(cases.size() == 3);
  CHECK(cases[0].problem == problem);
  CHECK(cases[0].misalign_elements == 0);
  const auto* ragged = find(cases, "a ragged size");
  REQUIRE(ragged != nullptr);
  const auto n = ragged->problem.sizes.at("n");
  CHECK(n % 2 == 1);
  CHECK(n < (1 << 20));
  CHECK(n > (1 << 20) * 9 / 10);
  const auto* misaligned = find(cases, "a misaligned input");
  REQUIRE(misaligned != nullptr);
  CHECK(misaligned->misalign_elements == 1);
  CHECK(misaligned->problem == problem);
}

TEST_CASE("further cases of a large problem stay near 2^22 elements, whatever the number of axes") {
  const auto one = make(R"("n": {"size": {"min": 1}})", "n");
  for (const auto& plan : verify::plan_cases(one, {{{"T", "f32"}}, {{"n", std::int64_t{1} << 30}}}, kDevice)) {
    if (plan.label != "the asked size") CHECK(plan.problem.sizes.at("n") <= (1 << 22));
  }
  const auto two = make(R"("n": {"size": {"min": 1}}, "m": {"size": {"min": 1}})", "n * m");
  for (const auto& plan : verify::plan_cases(two, {{{"T", "f32"}}, {{"n", 1 << 20}, {"m", 1 << 20}}}, kDevice)) {
    if (plan.label == "the asked size") continue;
    CHECK(plan.problem.sizes.at("n") * plan.problem.sizes.at("m") <= (1 << 22));
  }
}

TEST_CASE("further cases of a problem with many operations are smaller, so that they are quick") {
  const spec::Problem problem{{{"T", "f32"}}, {{"n", 1 << 20}}};
  const auto largest = [&](const std::string& work) {
    std::int64_t most = 0;
    for (const auto& plan : verify::plan_cases(make(R"("n": {"size": {"min": 1}})", "n", work), problem, kDevice)) {
      if (plan.label != "the asked size") most = std::max(most, plan.problem.sizes.at("n"));
    }
    return most;
  };
  CHECK(largest("n") == 1 << 20);
  CHECK(largest("n * n") == 1 << 17);  // 2^34 of them
  CHECK(largest("n * n * 8000000") == 1 << 12);
}

TEST_CASE("a size that is cut stays a multiple of 32, as long as it is larger than that") {
  const auto three = make(R"("n": {"size": {"min": 1}}, "m": {"size": {"min": 1}}, "k": {"size": {"min": 1}})", "n * m");
  for (const std::int64_t size : {1000, 4096, 4099}) {
    const spec::Problem problem{{{"T", "f32"}}, {{"n", size}, {"m", size}, {"k", size}}};
    const auto cases = verify::plan_cases(three, problem, kDevice);
    const auto* misaligned = find(cases, "a misaligned input");
    REQUIRE(misaligned != nullptr);
    for (const auto& [axis, cut] : misaligned->problem.sizes) CHECK((cut % 32 == 0 && cut < size));
  }
}

TEST_CASE("further cases of a long, flat problem stay long and flat") {
  const auto kernel = make(R"("n": {"size": {"min": 0}}, "m": {"size": {"min": 0}})", "n * m");
  for (const auto& [n, m] : {std::pair{std::int64_t{1}, std::int64_t{1} << 28}, std::pair{std::int64_t{1} << 28, std::int64_t{1}}}) {
    const auto cases = verify::plan_cases(kernel, {{{"T", "f32"}}, {{"n", n}, {"m", m}}}, kDevice);
    const auto* misaligned = find(cases, "a misaligned input");
    REQUIRE(misaligned != nullptr);
    CHECK(misaligned->problem.sizes.at("n") == std::min(n, std::int64_t{1} << 22));
    CHECK(misaligned->problem.sizes.at("m") == std::min(m, std::int64_t{1} << 22));
  }
}

TEST_CASE("an empty case exists exactly when a size may be 0 and was not asked for") {
  const auto may = make(R"("n": {"size": {"min": 0}})", "n");
  const auto may_not = make(R"("n": {"size": {"min": 1}})", "n");
  const auto cases = verify::plan_cases(may, {{{"T", "f32"}}, {{"n", 10}}}, kDevice);
  const auto* empty = find(cases, "no elements");
  CHECK(empty != nullptr);
  CHECK(find(verify::plan_cases(may_not, {{{"T", "f32"}}, {{"n", 10}}}, kDevice), "no elements") == nullptr);
  CHECK(find(verify::plan_cases(may, {{{"T", "f32"}}, {{"n", 0}}}, kDevice), "no elements") == nullptr);
}

TEST_CASE("ragged sizes of small and odd problems differ from the asked ones and keep the axis's limits") {
  const auto kernel = make(R"("n": {"size": {"min": 1}})", "n");
  for (const std::int64_t n : {1, 2, 3, 4, 15, 16, 17, 18, 1001}) {
    const auto cases = verify::plan_cases(kernel, {{{"T", "f32"}}, {{"n", n}}}, kDevice);
    const auto* ragged = find(cases, "a ragged size");
    REQUIRE(ragged != nullptr);
    CHECK(ragged->problem.sizes.at("n") != n);
    CHECK(ragged->problem.sizes.at("n") >= 1);
    CHECK(ragged->problem.sizes.at("n") % 2 == 1);
  }
  const auto fixed = make(R"("n": {"size": {"min": 8, "max": 8}})", "n");
  CHECK(find(verify::plan_cases(fixed, {{{"T", "f32"}}, {{"n", 8}}}, kDevice), "a ragged size") == nullptr);
}

TEST_CASE("data buffers are sized by the problem, scratch is left to the configuration") {
  const auto kernel = make(R"("n": {"size": {"min": 1}})", "n * 3");
  const auto buffers = verify::data_buffers(kernel, {{{"T", "i8"}}, {{"n", 100}}}, spec::DeviceInfo::of_architecture("sm_90"));
  REQUIRE(buffers.size() == 3);
  CHECK(buffers[0].type == spec::ElementType::I8);
  CHECK(buffers[0].count == 300);
  CHECK(buffers[0].bytes == 300);
  CHECK(buffers[1].bytes == 4);
  CHECK(buffers[2].workspace);
  CHECK(buffers[2].bytes == 0);
}

TEST_CASE("a buffer beyond any device is refused before anything is allocated") {
  const auto kernel = make(R"("n": {"size": {"min": 1}})", "n * 1000000");
  CHECK_THROWS_AS(static_cast<void>(verify::data_buffers(kernel, {{{"T", "f32"}}, {{"n", std::int64_t{1} << 40}}},
                                                         spec::DeviceInfo::of_architecture("sm_90"))),
                  EnvironmentError);
}

TEST_CASE("a fill that no number is in is an error of the template at that size, and needs none where nothing is filled") {
  const auto kernel = filled("i32", R"x({"range": [0, "n"]})x");
  const auto buffers_of = [&](std::int64_t n, std::int64_t m) { return verify::data_buffers(kernel, {{}, {{"n", n}, {"m", m}}}, kDevice); };
  CHECK(buffers_of(5, 3)[1].fill_bounds == std::vector<spec::Value>{std::int64_t{0}, std::int64_t{5}});
  CHECK(buffers_of(0, 0)[1].fill_bounds.empty());
  // Of a size that is chosen for verifying a SpecError leaves that size out; others end the problem.
  CHECK_THROWS_WITH_AS(
      static_cast<void>(buffers_of(0, 3)),
      R"(template.json:4:51: the fill of the buffer 'in' for {"m":3,"n":0} is a range from 0 to below 0, which no number is )"
      "in; give it a second bound above the first",
      SpecError);
}

TEST_CASE("a count below zero is an error of the template at that size, at its place") {
  const auto kernel = filled("i32", "\"zeros\"", "m - 2");
  CHECK_THROWS_WITH_AS(static_cast<void>(verify::data_buffers(kernel, {{}, {{"n", 1}, {"m", 1}}}, kDevice)),
                       R"(template.json:4:39: the count of the buffer 'in' is -1 for {"m":1,"n":1} ("m - 2"))", SpecError);
}

TEST_CASE("what is compiled for a problem is told only of one that can be filled, whatever checks its results") {
  const auto kernel = filled("f16", "\"index\"");
  const spec::Problem fits{{}, {{"n", 1}, {"m", 2049}}}, too_large{{}, {{"n", 1}, {"m", 4096}}};
  CHECK_FALSE(verify::reference_program(kernel, fits, kDevice).has_value());
  CHECK_THROWS_WITH_AS(static_cast<void>(verify::reference_program(kernel, too_large, kDevice)),
                       R"(template.json:4:51: the fill of the buffer 'in' for {"m":4096,"n":1} goes up to 4095, and f16 has whole numbers )"
                       "without gaps up to 2048 only; give the buffer a wider type, or choose a smaller problem or another fill",
                       SpecError);
}

TEST_CASE("inputs are stated where no data set has others: files, patterns and single numbers") {
  for (const char* const fill : {R"({"value": 2})", "\"index\"", "\"zeros\"", "\"ones\"", "\"permutation\"", R"({"range": [0, 9]})"}) {
    CAPTURE(fill);
    CHECK(verify::all_inputs_stated(filled("i32", fill)));
  }
  CHECK_FALSE(verify::all_inputs_stated(filled("i32", "\"uniform\"")));
  CHECK_FALSE(verify::all_inputs_stated(filled("i32", "\"integers\"")));  // others in each data set
}

TEST_CASE("further cases of a histogram keep its bins, but for one, and cap its samples alone") {
  const auto kernel = spec::KernelTemplate::parse(test::histogram_template(), {{"kernel.cu", ""}}, "template.json");
  const std::int64_t bins = 1 << 20;
  const spec::Problem problem{{{"T", "u32"}, {"mapping", "scaled"}}, {{"n", std::int64_t{1} << 30}, {"bins", bins}}};
  const auto cases = verify::plan_cases(kernel, problem, kDevice);
  REQUIRE(cases.size() == 5);
  for (const auto& plan : cases) {
    if (plan.label == "the asked size") continue;
    CHECK(plan.problem.sizes.at("n") <= (1 << 22));
    CHECK((plan.problem.sizes.at("bins") == bins) == (plan.label != "another number of bins"));
  }
  CHECK(find(cases, "a misaligned input")->problem.sizes.at("n") == (1 << 22));
  CHECK(find(cases, "another number of bins")->problem.sizes.at("bins") % 2 == 1);
  CHECK(find(cases, "no elements")->problem.sizes.at("n") == 0);
}

}  // namespace test_cases
