// Problems drawn at random: the same ones from the same seed everywhere, of every family, in the ranges that are told.
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "bench/support/random_problems.hpp"

namespace test_random_problems {

using namespace attune::bench;

TEST_CASE("a seed stands for one list of problems, another one for another, and more problems of it only add some") {
  const auto texts = [](std::uint64_t seed, int count) {
    std::multiset<std::string> all;
    for (const RandomProblem& problem : draw_problems(seed, count)) all.insert(problem.family() + " " + problem.to_json().dump());
    return all;
  };
  CHECK(texts(20261123, 50) == texts(20261123, 50));
  CHECK(texts(20261123, 50) != texts(20261124, 50));
  const auto some = texts(7, 40), more = texts(7, 60);
  CHECK(std::includes(more.begin(), more.end(), some.begin(), some.end()));
}

TEST_CASE("every family is drawn, within its ranges, and lies together") {
  std::map<std::string, int> families;
  std::string before;
  int changes = 0;
  for (const RandomProblem& problem : draw_problems(1, 3000)) {
    ++families[problem.family()];
    changes += problem.family() != before;
    before = problem.family();
    const auto sizes = problem.sizes();
    double elements = 1;
    if (problem.template_name() == "histogram")
      elements = static_cast<double>(sizes.at(0));
    else
      for (const auto size : sizes) elements *= static_cast<double>(size);
    CAPTURE(problem.to_json().dump());
    CHECK(elements >= 128);
    CHECK(elements <= std::exp2(29.6));
    if (problem.template_name() == "histogram") {
      CHECK(sizes.at(1) >= 2);
      CHECK(sizes.at(1) <= 200000);
      CHECK(problem.choices().contains("skew") == (problem.skew_is == SkewIs::Stated));
    }
  }
  CHECK(families.size() == 12 + 6 + 1 + 5);
  CHECK(changes == static_cast<int>(families.size()));
  for (const auto& [family, count] : families) {
    CAPTURE(family);
    CHECK(count > 10);
  }
}

TEST_CASE("a problem is told as the command line reads it: every axis of its template, and nothing else") {
  for (const RandomProblem& problem : draw_problems(3, 200)) {
    const auto json = problem.to_json();
    std::set<std::string> axes;
    for (const auto& [axis, value] : json.items()) axes.insert(axis);
    std::set<std::string> expected;
    for (const auto& [axis, value] : problem.choices()) expected.insert(axis);
    if (problem.template_name() == "segmented_reduce")
      expected.insert({"rows", "columns"});
    else
      expected.insert("n");
    if (problem.template_name() == "histogram") expected.insert("bins");
    CHECK(axes == expected);
  }
}

}  // namespace test_random_problems
