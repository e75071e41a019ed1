#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string>

#include "attune/error.hpp"
#include "tests/unit/space/space_fixtures.hpp"

namespace test_search_space {

using namespace attune;
using namespace attune::space;
using namespace attune::space::test;

namespace {

/// 40 x 40 x 40 combinations.
spec::KernelTemplate wide_template() {
  std::string values = "[0";
  for (int i = 1; i < 40; ++i) values += "," + std::to_string(i);
  const std::string parameter = ": {\"values\": " + values + "], \"default\": 0}";
  return spec::KernelTemplate::parse(
      R"({"attune": 1, "name": "wide", "sources": ["a.cu"], "problem": {"n": {"size": {}}}, "parameters": {"a")" + parameter + ", \"b\"" +
          parameter + ", \"c\"" + parameter + R"(}, "constraints": ["a + b + c != 7"],
      "buffers": {"out": {"type": "f32", "count": "n", "output": true}},
      "launches": [{"kernel": "k", "grid": 1, "block": 1, "args": ["out"]}], "reference": "none"})",
      {{"a.cu", ""}}, "t.json");
}

}  // namespace

TEST_CASE("without conditions the space is the Cartesian product, the last parameter fastest") {
  const auto space = SearchSpace::build({integers("a", {5, 6}), texts("b", {"x", "y", "z"})}, {}, no_constants);
  CHECK(space.size() == 6);
  CHECK(space.cartesian_size() == 6);
  CHECK(space.emptied_by().empty());
  CHECK(rows(space) == Rows{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}});
}

TEST_CASE("a condition keeps the configurations it holds for") {
  const auto space =
      SearchSpace::build({integers("a", {1, 2, 3}), integers("b", {1, 2, 3})}, conditions({"a * b <= 3", "b != 1"}), no_constants);
  CHECK(rows(space) == Rows{{0, 1}, {0, 2}});
  CHECK(space.cartesian_size() == 9);
}

TEST_CASE("conditions use constants next to parameters") {
  const auto constants = [](std::string_view name) -> std::optional<spec::Value> {
    if (name == "n") return std::int64_t{2};
    if (name == "device.sm_count") return std::int64_t{132};
    return std::nullopt;
  };
  const auto space = SearchSpace::build({integers("a", {1, 2, 66, 67})}, conditions({"n == 2", "a * n <= device.sm_count"}), constants);
  CHECK(rows(space) == Rows{{0}, {1}, {2}});
}

TEST_CASE("an empty space names the condition that removed the last configurations") {
  SUBCASE("a false condition on constants alone") {
    const auto space = SearchSpace::build({integers("a", {1})}, conditions({"a > 0", "1 > 2"}), no_constants);
    CHECK(space.size() == 0);
    CHECK(space.emptied_by() == "1 > 2");
  }
  SUBCASE("the deepest condition, however much an earlier one removed") {
    const auto space = SearchSpace::build({counting("a", 100), integers("b", {1, 2})}, conditions({"a == 7", "a + b > 9"}), no_constants);
    CHECK(space.size() == 0);
    CHECK(space.emptied_by() == "a + b > 9");
  }
  SUBCASE("at one depth, the condition that removed most") {
    const auto space = SearchSpace::build({counting("a", 10)}, conditions({"a > 1", "a < 2"}), no_constants);
    CHECK(space.emptied_by() == "a < 2");
  }
  SUBCASE("a condition that was never reached is not blamed") {
    const auto space = SearchSpace::build({counting("a", 3), counting("b", 3)}, conditions({"a > 5", "b > 5"}), no_constants);
    CHECK(space.emptied_by() == "a > 5");
  }
  SUBCASE("a parameter without values") {
    const auto space = SearchSpace::build({integers("a", {1}), integers("b", {})}, {}, no_constants);
    CHECK(space.size() == 0);
    CHECK(space.cartesian_size() == 0);
    CHECK(space.emptied_by() == "parameter 'b' has no values");
  }
}

TEST_CASE("an empty space answers every question with nothing") {
  const auto space = SearchSpace::build({integers("a", {1})}, conditions({"a > 1"}), no_constants);
  std::mt19937_64 random(1);
  CHECK_FALSE(space.find({{0}}));
  CHECK(space.sample(10, random).empty());
}

TEST_CASE("a space without parameters holds the one empty configuration") {
  const auto space = SearchSpace::build({}, {}, no_constants);
  CHECK(space.size() == 1);
  CHECK(space.cartesian_size() == 1);
  CHECK(space.find({}) == Ordinal{0});
  CHECK(space.at(0).index.empty());
  CHECK(space.neighbours(0, Neighbourhood::Hamming).empty());
}

TEST_CASE("a Cartesian size beyond 64 bits saturates") {
  std::vector<spec::Parameter> parameters;
  std::vector<std::string> texts_of_conditions;
  for (int i = 0; i < 20; ++i) {
    const std::string name = "p" + std::to_string(i);
    parameters.push_back(counting(name, 16));
    texts_of_conditions.push_back(name + " == 3");
  }
  const auto space = SearchSpace::build(parameters, conditions(texts_of_conditions), no_constants);
  CHECK(space.cartesian_size() == std::numeric_limits<std::uint64_t>::max());
  CHECK(space.size() == 1);
  CHECK(space.at(0).index == std::vector<std::uint16_t>(20, 3));
}

TEST_CASE("find is the inverse of at, and nothing for what is outside") {
  const auto space = SearchSpace::build({counting("a", 40), counting("b", 40)}, conditions({"(a + b) % 3 == 1"}), no_constants);
  // a + b = 1 mod 3: residues 0, 1, 2 occur 14, 13, 13 times in 0..39, so 14*13 + 13*14 + 13*13 pairs.
  REQUIRE(space.size() == 533);
  for (Ordinal ordinal = 0; ordinal < space.size(); ++ordinal) CHECK(space.find(space.at(ordinal)) == ordinal);
  CHECK_FALSE(space.find({{0, 0}}));
  CHECK_FALSE(space.find({{40, 0}}));
  CHECK_FALSE(space.find({{0}}));
  CHECK_FALSE(space.find({{0, 1, 0}}));
}

TEST_CASE("Hamming neighbours differ in one parameter by any value, adjacent ones by one step") {
  const auto space = SearchSpace::build({counting("a", 4), counting("b", 3)}, conditions({"not (a == 2 and b == 1)"}), no_constants);
  const auto at = [&](std::uint16_t a, std::uint16_t b) { return space.find({{a, b}}).value(); };
  CHECK(space.neighbours(at(1, 1), Neighbourhood::Hamming) == std::vector<Ordinal>{at(0, 1), at(3, 1), at(1, 0), at(1, 2)});
  CHECK(space.neighbours(at(1, 1), Neighbourhood::Adjacent) == std::vector<Ordinal>{at(0, 1), at(1, 0), at(1, 2)});
  CHECK(space.neighbours(at(0, 0), Neighbourhood::Adjacent) == std::vector<Ordinal>{at(1, 0), at(0, 1)});
  CHECK(space.neighbours(at(3, 2), Neighbourhood::Adjacent) == std::vector<Ordinal>{at(2, 2), at(3, 1)});
}

TEST_CASE("a sample is without replacement and repeats with its seed") {
  const auto space = SearchSpace::build({counting("a", 100)}, {}, no_constants);
  std::mt19937_64 random(5);
  const auto drawn = space.sample(30, random);
  CHECK(drawn.size() == 30);
  CHECK(std::set<Ordinal>(drawn.begin(), drawn.end()).size() == 30);
  std::mt19937_64 again(5);
  CHECK(space.sample(30, again) == drawn);
  CHECK(space.sample(30, again) != drawn);
}

TEST_CASE("a sample as large as the space is all of it, in random order") {
  const auto space = SearchSpace::build({counting("a", 50)}, {}, no_constants);
  std::mt19937_64 random(5);
  auto drawn = space.sample(1000, random);
  CHECK(drawn.size() == 50);
  CHECK_FALSE(std::is_sorted(drawn.begin(), drawn.end()));
  std::sort(drawn.begin(), drawn.end());
  CHECK(std::adjacent_find(drawn.begin(), drawn.end()) == drawn.end());
}

TEST_CASE("sampling is uniform") {
  const auto space = SearchSpace::build({counting("a", 10)}, {}, no_constants);
  std::mt19937_64 random(11);
  std::vector<int> times(10, 0);
  constexpr int kTrials = 10000;
  for (int trial = 0; trial < kTrials; ++trial) {
    for (const Ordinal ordinal : space.sample(3, random)) ++times[ordinal];
  }
  for (const int count : times) CHECK(std::abs(count - 3000) < 230);  // binomial deviation 46: five of them
}

TEST_CASE("an unknown variable is refused at its place, with a suggestion") {
  try {
    static_cast<void>(SearchSpace::build({integers("block_size", {1})}, conditions({"1 < 2", "1 > 2 and blok_size > 0"}), no_constants));
    FAIL("must throw");
  } catch (const SpecError& error) {
    const std::string message = error.what();
    CHECK(error.file() == "template.json");
    CHECK(error.line() == 2);
    CHECK(message.find("unknown variable 'blok_size'") != std::string::npos);
    CHECK(message.find("did you mean 'block_size'") != std::string::npos);
  }
}

TEST_CASE("a condition that fails to evaluate throws at its place when nothing else removes the configuration") {
  try {
    static_cast<void>(SearchSpace::build({integers("a", {4}), integers("b", {2, 0})}, conditions({"a > 0", "a % b == 0"}), no_constants));
    FAIL("must throw");
  } catch (const SpecError& error) {
    CHECK(error.line() == 2);
  }
}

TEST_CASE("a guard protects a condition wherever it stands and whatever parameter it needs") {
  const std::vector<spec::Parameter> parameters = {integers("a", {4}), integers("b", {0, 2}), integers("c", {0, 1})};
  SUBCASE("before it") {
    CHECK(rows(SearchSpace::build(parameters, conditions({"b > 0", "a % b == 0"}), no_constants)) == Rows{{0, 1, 0}, {0, 1, 1}});
  }
  SUBCASE("after it") {
    CHECK(rows(SearchSpace::build(parameters, conditions({"a % b == 0", "b > 0"}), no_constants)) == Rows{{0, 1, 0}, {0, 1, 1}});
  }
  SUBCASE("at a deeper parameter") {
    CHECK(rows(SearchSpace::build(parameters, conditions({"a % b == 0", "b > 0 and c == 1"}), no_constants)) == Rows{{0, 1, 1}});
  }
}

TEST_CASE("a condition over more combinations than are remembered is still right") {
  const auto space = SearchSpace::build({counting("a", 600), counting("b", 600)}, conditions({"a + b == 599"}), no_constants);
  REQUIRE(space.size() == 600);
  for (const Ordinal ordinal : {0u, 17u, 599u}) {
    CHECK(space.at(ordinal).index ==
          std::vector<std::uint16_t>{static_cast<std::uint16_t>(ordinal), static_cast<std::uint16_t>(599 - ordinal)});
  }
}

TEST_CASE(
    "what a condition of many combinations says first decides where it holds, and an error in it is told where no other condition removes it") {
  const auto space = SearchSpace::build({counting("a", 600), counting("b", 600)}, conditions({"b >= 1 or a + b == 599"}), no_constants);
  CHECK(space.size() == 600 * 599 + 1);
  CHECK_FALSE(space.find({{598, 0}}).has_value());
  CHECK(space.find({{599, 0}}).has_value());
  const auto failing = conditions({"1 % a == 0 or a + b == 599"});
  CHECK_THROWS_AS(static_cast<void>(SearchSpace::build({counting("a", 600), counting("b", 600)}, failing, no_constants)), SpecError);
  CHECK(SearchSpace::build({counting("a", 600), counting("b", 600)}, conditions({"1 % a == 0 or a + b == 599", "a > 1"}), no_constants)
            .size() == 598);
}

TEST_CASE("the space survives being moved and copied") {
  auto original = SearchSpace::build({counting("a", 5), counting("b", 5)}, conditions({"a < b"}), no_constants);
  const SearchSpace copy = original;
  const SearchSpace moved = std::move(original);
  CHECK(rows(copy) == rows(moved));
  CHECK(moved.size() == 10);
  CHECK(moved.find(copy.at(7)) == Ordinal{7});
}

TEST_CASE("a parameter of more values than an index can tell apart is refused") {
  CHECK(SearchSpace::build({counting("a", 65536)}, conditions({"a == 65535"}), no_constants).at(0).index.front() == 65535);
  CHECK_THROWS_AS(static_cast<void>(SearchSpace::build({counting("a", 65537)}, {}, no_constants)), UsageError);
}

TEST_CASE("a space is built no further than its watch wants, and the share that is done grows to it") {
  const auto kernel = wide_template();
  std::vector<double> shares;
  const BuildWatch watch = [&](const BuildProgress& progress) {
    shares.push_back(progress.share);
    return shares.size() < 5;
  };
  const spec::Problem problem{{}, {{"n", 1}}};
  CHECK_THROWS_AS((void)SearchSpace::build(kernel, problem, spec::DeviceInfo::of_architecture("sm_90"), {}, watch), BuildStopped);
  REQUIRE(shares.size() == 5);
  CHECK(std::is_sorted(shares.begin(), shares.end()));
  CHECK(shares.front() > 0);
  CHECK(shares.back() < 1);
}

TEST_CASE("a watch that goes on changes nothing") {
  const auto kernel = wide_template();
  const auto device = spec::DeviceInfo::of_architecture("sm_90");
  const spec::Problem problem{{}, {{"n", 1}}};
  double last = 0;
  const auto watched = SearchSpace::build(kernel, problem, device, {}, [&](const BuildProgress& progress) {
    last = progress.share;
    return true;
  });
  CHECK(rows(watched) == rows(SearchSpace::build(kernel, problem, device)));
  CHECK(last > 0.9);
  CHECK(last < 1);
}

TEST_CASE("a space of many parameters is refused by the memory that it takes, not only by its count") {
  std::vector<spec::Parameter> parameters;
  for (int i = 0; i < 1000; ++i) parameters.push_back(integers("p" + std::to_string(i), {1}));
  parameters.push_back(counting("last", 60'000));
  parameters.push_back(counting("more", 10));
  CHECK_THROWS_WITH_AS((void)SearchSpace::build(parameters, {}, no_constants), doctest::Contains("more than 535799 configurations"),
                       UsageError);
}

TEST_CASE("a space of listed configurations holds each of them once, finds them and knows their neighbours") {
  const std::vector<spec::Parameter> parameters{integers("a", {1, 2, 3}), texts("b", {"x", "y"})};
  const auto space = SearchSpace::of(parameters, {{{2, 1}}, {{0, 0}}, {{2, 0}}, {{0, 0}}});
  CHECK(rows(space) == Rows{{0, 0}, {2, 0}, {2, 1}});
  CHECK(space.find({{2, 1}}) == Ordinal{2});
  CHECK_FALSE(space.find({{1, 0}}).has_value());
  CHECK(space.neighbours(1, Neighbourhood::Hamming) == std::vector<Ordinal>{0, 2});
  CHECK(space.neighbours(1, Neighbourhood::Adjacent) == std::vector<Ordinal>{2});
  CHECK_THROWS_AS((void)SearchSpace::of(parameters, {{{3, 0}}}), UsageError);
  CHECK_THROWS_AS((void)SearchSpace::of(parameters, {{{0}}}), UsageError);
}

TEST_CASE("values that double lie at equal steps, those with a zero by their order, and choices nowhere") {
  const auto space = SearchSpace::of(
      {integers("doubles", {32, 128, 64}), integers("zero", {0, 100, 1}), texts("choice", {"x", "y"}), integers("alone", {7})},
      {{{0, 0, 0, 0}}});
  CHECK(space.scale(0) == std::vector<double>{0, 1, 0.5});
  CHECK(space.scale(1) == std::vector<double>{0, 1, 0.5});
  CHECK(space.scale(2).empty());
  CHECK(space.scale(3) == std::vector<double>{0});
}

}  // namespace test_search_space
