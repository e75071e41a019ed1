#include "bench/support/histogram_problem.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "attune/error.hpp"
#include "bench/support/json.hpp"

using namespace attune;
using namespace attune::bench;

namespace {

std::set<std::string> kinds_of(const std::vector<HistogramProblem>& problems) {
  std::set<std::string> kinds;
  for (const auto& problem : problems) kinds.insert(problem.kind());
  return kinds;
}

HistogramProblem first(const std::string& kind, const std::string& skew = "uniform") {
  return histogram_problems({kind, skew, "1000", false}).at(0);
}

}  // namespace

TEST_CASE("the grid is ten kinds by four skews by four sizes, nothing of it extra") {
  const auto problems = histogram_problems({});
  CHECK(problems.size() == 160);
  CHECK(std::none_of(problems.begin(), problems.end(), [](const auto& problem) { return problem.extra || problem.skew == Skew::Sorted; }));
  CHECK(kinds_of(problems) == std::set<std::string>{"u8 256", "i32 16", "i32 256", "i32 2048", "i32 16384", "i32 65536", "i32 2048 scaled",
                                                    "f32 256", "f32 4096", "i32 100 edges"});
}

TEST_CASE("the largest input of every kind of the grid is 2^28 bytes") {
  std::map<std::string, std::size_t> largest;
  for (const auto& problem : histogram_problems({})) largest[problem.kind()] = std::max(largest[problem.kind()], problem.input_bytes());
  for (const auto& [kind, bytes] : largest) CHECK_MESSAGE(bytes == std::size_t{1} << 28, kind);
}

TEST_CASE("extra problems come beside the grid and say that they are") {
  const auto problems = histogram_problems({"", "", "", true});
  // Sorted samples of ten kinds and two extra ones; four skews of three extra kinds.
  CHECK(problems.size() == 160 + 4 * 12 + 4 * 4 * 3);
  CHECK(std::count_if(problems.begin(), problems.end(), [](const auto& problem) { return !problem.extra; }) == 160);
  CHECK(kinds_of(problems).size() == 13);
}

TEST_CASE("filters keep what they name, an extra kind or skew too") {
  CHECK(histogram_problems({"u8 256,i32 2048", "", "", false}).size() == 2 * 4 * 4);
  CHECK(histogram_problems({"i32 2048 scaled", "zipf,constant", "", false}).size() == 2 * 4);
  CHECK(histogram_problems({"i32 256", "hot", "1000,2^20", false}).size() == 2);
  CHECK(histogram_problems({"i32 1000000", "uniform", "", false}).size() == 4);
  const auto sorted = histogram_problems({"f32 256", "sorted", "4096", false});
  REQUIRE(sorted.size() == 1);
  CHECK(sorted[0].extra);
}

TEST_CASE("a filter that names no kind or skew is refused with the names that there are") {
  CHECK_THROWS_WITH_AS(histogram_problems({"", "zipfian", "", false}),
                       "failed choosing problems: there is no skew \"zipfian\"; there are uniform, zipf, hot, constant, sorted",
                       UsageError);
  CHECK_THROWS_AS(histogram_problems({"u8 256,i64 16", "", "", false}), UsageError);
}

TEST_CASE("attune is told the skew only where it is stated") {
  const auto problem = first("i32 2048 scaled", "zipf");
  CHECK(problem.choices(SkewIs::Unknown) == std::map<std::string, std::string>{{"T", "i32"}, {"mapping", "scaled"}});
  CHECK(problem.choices(SkewIs::Stated).at("skew") == "zipf");
  CHECK(bench::dump_json(problem.to_json()) == R"({"template":"histogram","T":"i32","mapping":"scaled","n":1000,"bins":2048})");
}

TEST_CASE("the bounds suit the mapping: unit bins are one value wide, scaled ones are not") {
  for (const auto& problem : histogram_problems({"", "", "", true})) {
    const double range = problem.peer.upper - problem.peer.lower;
    if (problem.mapping == "unit") CHECK(range == problem.peer.bins);
    if (problem.mapping == "scaled") CHECK(range != problem.peer.bins);
  }
}

TEST_CASE("given edges ascend, are one more than the bins, and lie at different distances") {
  const auto edges = first("i32 100 edges").edges();
  CHECK(edges.size() == 101);
  std::set<std::int32_t> widths;
  for (std::size_t i = 1; i < edges.size(); ++i) widths.insert(edges[i] - edges[i - 1]);
  CHECK(*widths.begin() > 0);
  CHECK(widths.size() == 100);
  CHECK(first("i32 256").edges().empty());
}

TEST_CASE("channels and weights are part of the bytes read and of the choices") {
  const auto colours = first("u8 256 3 of 4 channels");
  CHECK(colours.input_bytes() == 4000);
  CHECK(colours.output_bytes() == 3 * 256 * 4);
  CHECK(colours.choices(SkewIs::Unknown).at("channels") == "4");
  CHECK(colours.choices(SkewIs::Unknown).at("active") == "3");
  const auto weighted = first("i32 256 weighted");
  CHECK(weighted.input_bytes() == 8000);
  CHECK(weighted.weights_at() == 4000);
  CHECK(weighted.choices(SkewIs::Unknown).at("Counter") == "f32");
}
