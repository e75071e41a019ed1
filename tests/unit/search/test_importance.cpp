#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "tests/unit/search/learning.hpp"
#include "tuner/search/draws.hpp"
#include "tuner/search/importance.hpp"

namespace test_importance {

using namespace attune;
using namespace attune::search;
using namespace attune::search::test;
using space::Ordinal;

namespace {

using LogTimes = std::vector<std::pair<Ordinal, double>>;

template <typename LogTime>
LogTimes measured(const space::SearchSpace& space, std::size_t count, const LogTime& log_time) {
  std::mt19937_64 random(3);
  LogTimes all;
  for (const auto ordinal : space.sample(count, random)) all.emplace_back(ordinal, log_time(space.row(ordinal)));
  return all;
}

ParameterImportance of_parameter(const std::vector<ParameterImportance>& all, std::size_t parameter) {
  return *std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.parameter == parameter; });
}

/// The first of four parameters has nine tenths of the variance, a choice nearly all of the rest; one does nothing and one has one value.
struct Four {
  space::SearchSpace space = all_of({powers_of_two("a", 8), multiples("b", 8, 16), choices("c", 4), powers_of_two("d", 1)});
  LogTimes log_times(std::size_t count) const {
    return measured(space, count, [](auto row) { return 0.3 * row[0] + (row[2] == 1 ? 0.526 : 0.0); });
  }
};

}  // namespace

TEST_CASE("importance gives each parameter its share of the variance, and next to none to one that does nothing") {
  const Four four;  // variances 0.09 * 63 / 12 = 0.4725 and 0.526^2 * 3 / 16 = 0.0519
  const auto all = importance_of(four.space, four.log_times(400), 1);
  REQUIRE(all.size() == 4);
  CHECK(all[0].parameter == 0);
  CHECK(all[0].share == doctest::Approx(0.9).epsilon(0.1));
  CHECK(all[1].parameter == 2);
  CHECK(all[1].share == doctest::Approx(0.1).epsilon(0.3));
  CHECK(of_parameter(all, 1).share < 0.01);
  CHECK(of_parameter(all, 3).share == 0);
  CHECK(of_parameter(all, 3).high == 0);
}

TEST_CASE("importance has a spread that holds the share, and is wider where less was measured") {
  const Four four;
  const auto few = importance_of(four.space, four.log_times(30), 1), many = importance_of(four.space, four.log_times(400), 1);
  for (const auto& all : {few, many})
    for (const auto& one : all) CHECK((0 <= one.low && one.low <= one.share && one.share <= one.high));
  const auto width = [](const auto& all) { return of_parameter(all, 0).high - of_parameter(all, 0).low; };
  CHECK(width(many) > 0);
  CHECK(width(few) > 2 * width(many));
}

TEST_CASE("importance counts what two parameters do together for both") {
  const auto space = all_of({choices("a", 2), choices("b", 2), powers_of_two("c", 8), powers_of_two("d", 8)});
  const auto all = importance_of(space, measured(space, 200, [](auto row) { return row[0] == row[1] ? 1.0 : 0.0; }), 1);
  CHECK(of_parameter(all, 0).share > 0.6);
  CHECK(of_parameter(all, 1).share > 0.6);
  CHECK(of_parameter(all, 2).share < 0.1);
}

TEST_CASE("importance is that of the seed and the measurements, in seconds or in hours") {
  const Four four;
  auto log_times = four.log_times(60);
  const auto shares = [&](std::uint64_t seed) {
    std::vector<double> all;
    for (const auto& one : importance_of(four.space, log_times, seed)) all.insert(all.end(), {one.share, one.low, one.high});
    return all;
  };
  const auto once = shares(1);
  CHECK(once == shares(1));
  CHECK(once != shares(2));
  for (auto& [ordinal, log_time] : log_times) log_time += std::log(3600);
  const auto in_hours = shares(1);
  for (std::size_t i = 0; i < once.size(); ++i) CHECK(in_hours[i] == doctest::Approx(once[i]).epsilon(1e-6));
}

TEST_CASE("importance says nothing of too few measurements, of equal ones and of a space of one configuration") {
  const Four four;
  const auto one = all_of({powers_of_two("a", 1)});
  LogTimes same(20, {0, 0.1});
  for (const auto& all : {importance_of(four.space, {}, 1), importance_of(four.space, four.log_times(9), 1),
                          importance_of(four.space, measured(four.space, 50, [](auto) { return 0.7; }), 1), importance_of(one, same, 1)})
    for (const auto& each : all) CHECK((each.share == 0 && each.low == 0 && each.high == 0));
}

TEST_CASE("importance of more measurements than it takes in is that of a part of them") {
  const auto space = all_of({powers_of_two("a", 16), multiples("b", 8, 256), choices("c", 4)});
  const auto all = importance_of(space, measured(space, 5000, [](auto row) { return 0.1 * row[0] + 0.001 * row[1]; }), 1);
  CHECK(all[0].parameter == 0);
  CHECK(all[0].share == doctest::Approx(0.97).epsilon(0.05));  // variances 0.01 * 255 / 12 and 0.000001 * 65535 / 12
}

}  // namespace test_importance
