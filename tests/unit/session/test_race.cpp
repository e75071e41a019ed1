// The run-off as a race, on made-up rounds. What the noise is like is in made_up_device.hpp.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "attune/error.hpp"
#include "tests/unit/session/made_up_device.hpp"
#include "tuner/session/source/race.hpp"

namespace test_race {

using namespace attune;
using session::Race;
using Rounds = std::vector<std::vector<double>>;
using Indices = std::vector<std::size_t>;

namespace {

constexpr test::Disturbance kQuiet{.epoch = 0, .sample = 0, .drift = 0};

Race after_epochs(const std::vector<double>& true_us, int epochs, const Race::Options& options = {}) {
  test::MadeUpDevice device(true_us, 1, kQuiet);
  Race race(true_us.size(), options);
  for (int epoch = 0; epoch < epochs; ++epoch) race.add_epoch(device.epoch(race.running(), options.rounds));
  return race;
}

Race to_its_end(const std::vector<double>& true_us, const Race::Options& options = {}) {
  test::MadeUpDevice device(true_us, 1, kQuiet);
  return test::MadeUpRunOff(device, options).race;
}

/// The fastest takes 10 us, the next one `first` times as long, the last `last` times, the others evenly between.
std::vector<double> field(std::size_t finalists, double first, double last) {
  std::vector<double> true_us = {10};
  for (std::size_t i = 1; i < finalists; ++i) {
    true_us.push_back(10 * (first + (last - first) * static_cast<double>(i - 1) / static_cast<double>(finalists - 2)));
  }
  return true_us;
}

std::vector<std::string> tied(const session::Decided& decided) {
  std::vector<std::string> names;
  for (const auto& placed : decided.placed) {
    if (placed.tied) names.push_back(placed.configuration);
  }
  return names;
}

/// What twenty tunings of one problem come to.
struct Reruns {
  int agreeing = 0;         ///< whose winner is the most frequent one, or whose tied finalists include it
  double worst_regret = 0;  ///< true time of a winner / of the fastest - 1
  std::size_t most_tied = 0;

  Reruns(const std::vector<double>& true_us, std::uint64_t series) {
    std::map<std::string, int> wins;
    std::vector<std::vector<std::string>> ties;
    for (std::uint64_t run = 0; run < 20; ++run) {
      test::MadeUpDevice device(true_us, 1000 * series + run);
      const auto decided = test::MadeUpRunOff(device, {}).decide();
      const std::string winner = decided.placed[decided.winner].configuration;
      ++wins[winner];
      ties.push_back(tied(decided));
      most_tied = std::max(most_tied, ties.back().size());
      worst_regret = std::max(worst_regret, true_us[std::stoul(winner)] / true_us.front() - 1);
    }
    const auto modal = std::max_element(wins.begin(), wins.end(), [](const auto& a, const auto& b) { return a.second < b.second; })->first;
    for (const auto& tie : ties) agreeing += std::find(tie.begin(), tie.end(), modal) != tie.end() ? 1 : 0;
  }
};

}  // namespace

TEST_CASE("with all_stay even who takes twice as long runs to the end") {
  const Race race = to_its_end({10, 20, 10.2}, {.most = 12, .all_stay = true});
  for (std::size_t i = 0; i < 3; ++i) CHECK(race.rounds_us(i).size() == 12);
}

TEST_CASE("the truly fastest of twelve hardly ever leaves the race") {
  // To leave, it must be over 1 % slower than the leader in every one of at least five epochs, or over 0.25 % in all of
  // eight (in all but one or two of more). The ratio of two epochs varies by sqrt(2 x 0.6^2 + 0.45 x 2 x 0.4^2) = 0.93
  // %: 0.45 is the variance of a median of three. Against the nearest rival, 0.3 % behind, that is 0.08^5 and 0.28^8,
  // and less against the others: far below one in 300.
  int lost = 0, first_epoch_losses = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    test::MadeUpDevice device(field(12, 1.003, 1.05), seed);
    const test::MadeUpRunOff run_off(device, {});
    lost += run_off.race.still_runs(0) ? 0 : 1;
    first_epoch_losses += run_off.race.rounds_us(0).size() == 1 ? 1 : 0;
  }
  MESSAGE("the fastest left in ", lost, " of 300 races");
  CHECK(lost <= 1);
  CHECK(first_epoch_losses == 0);
}

TEST_CASE("a race costs a fraction of running everybody to the end") {
  std::size_t run = 0, possible = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    test::MadeUpDevice device(field(12, 1.003, 1.05), seed);
    const test::MadeUpRunOff run_off(device, {});
    for (std::size_t i = 0; i < 12; ++i) run += run_off.race.rounds_us(i).size();
    possible += 12 * static_cast<std::size_t>(run_off.race.epochs());
  }
  CHECK(run < possible / 2);
}

TEST_CASE("a hopeless finalist leaves after one epoch, whatever the noise, and one that is merely slower does not") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    test::MadeUpDevice device({10, 10.05, 11, 12}, seed);  // 10 % is more than seven deviations beyond hopeless
    Race race(4, {});
    race.add_epoch(device.epoch(race.running(), 3));
    CHECK(race.running() == Indices{0, 1});
    CHECK(race.rounds_us(2).size() == 1);
  }
  CHECK(after_epochs({10, 10.29}, 4).running() == Indices{0, 1});
  CHECK(after_epochs({10, 10.29}, 5).still_runs(1) == false);
}

TEST_CASE("who is more than one per cent slower in each of five epochs need not wait for eight, and who is less does") {
  CHECK(to_its_end({10, 10.11}).rounds_us(1).size() == Race::kEarly);
  CHECK(to_its_end({10, 10.09}).rounds_us(1).size() == 8);
}

TEST_CASE(
    "who is within a quarter of a per cent of the leader stays to the end, and who is further behind leaves at the "
    "fewest epochs") {
  CHECK(to_its_end({10, 10.02}).epochs() == 21);
  const auto apart = to_its_end({10, 10.03});
  CHECK(apart.rounds_us(1).size() == 8);
  CHECK_FALSE(apart.still_runs(1));
}

TEST_CASE("a finalist that is alone ends after five epochs, or at the fewest, not before") {
  CHECK(after_epochs({10}, 4).running() == Indices{0});
  CHECK(to_its_end({10}).epochs() == Race::kEarly);
  CHECK(to_its_end({10, 20, 30}).epochs() == Race::kEarly);
  CHECK(to_its_end({10, 10.03}).epochs() == 8);
  CHECK(to_its_end({10, 10.5}, {.fewest = 2, .most = 9}).epochs() == 2);
}

TEST_CASE("more survivors than may tie get half as many epochs more") {
  CHECK(to_its_end(std::vector<double>(Race::kFew, 10)).epochs() == 21);
  CHECK(to_its_end(std::vector<double>(Race::kFew + 1, 10)).epochs() == 31);
  CHECK(to_its_end(std::vector<double>(Race::kFew + 1, 10), {.most = 10}).epochs() == 15);
}

TEST_CASE("a race without finalists is over before it begins") { CHECK(Race(0, {}).running().empty()); }

TEST_CASE("an epoch of another shape or with a time that is none is an error and changes nothing") {
  Race race(2, {});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinite = std::numeric_limits<double>::infinity();
  for (const Rounds& bad : {Rounds{}, Rounds{{}}, Rounds{{1}}, Rounds{{1, 2, 3}}, Rounds{{1, 2}, {1}}, Rounds{{1, 0}}, Rounds{{1, -1}},
                            Rounds{{1, nan}}, Rounds{{1, infinite}}}) {
    CHECK_THROWS_AS(race.add_epoch(bad), Error);
    CHECK(race.epochs() == 0);
    CHECK(race.rounds_us(0).empty());
  }
  auto over = to_its_end({10});
  CHECK_THROWS_AS(over.add_epoch({{10}}), Error);
}

TEST_CASE("a ratio pairs the samples of one round, so that what both share cancels") {
  Race race(2, {.rounds = 3});
  race.add_epoch({{10, 10.2}, {20, 20.4}, {5, 5.1}});
  race.add_epoch({{10, 10.1}, {11, 12.1}, {40, 40.8}});  // ratios 1.01, 1.1, 1.02
  const auto ratios = race.ratios(1, 0);
  REQUIRE(ratios.size() == 2);
  CHECK(ratios[0] == doctest::Approx(1.02).epsilon(1e-12));
  CHECK(ratios[1] == doctest::Approx(1.02).epsilon(1e-12));
  CHECK(race.ratios(0, 1).front() == doctest::Approx(1 / 1.02).epsilon(1e-12));
  CHECK(race.rounds_us(0) == std::vector<std::vector<double>>{{10, 20, 5}, {10, 11, 40}});
}

TEST_CASE("ratios cover the epochs that both ran") {
  auto race = after_epochs({10, 20, 10.01}, 3);
  CHECK(race.ratios(1, 0).size() == 1);
  CHECK(race.ratios(0, 1).size() == 1);
  CHECK(race.ratios(2, 0).size() == 3);
}

TEST_CASE("the leader has the smallest median over its epochs, not the luckiest one") {
  Race race(2, {.rounds = 1, .hopeless = 9});
  race.add_epoch({{5, 10}});
  CHECK(race.leader() == 0);
  race.add_epoch({{12, 10}});
  race.add_epoch({{12, 10}});
  CHECK(race.leader() == 1);
}

TEST_CASE("the leader is who is faster in most rounds, also where drift makes another's median smaller") {
  Race race(2, {.rounds = 1, .hopeless = 9});
  race.add_epoch({{10, 9.9}});
  race.add_epoch({{20, 21}});  // both medians come from here, and point the wrong way
  race.add_epoch({{30, 29.7}});
  CHECK(race.leader() == 1);
}

TEST_CASE("relative times of a round do not change with what the round shares, and multiply to one") {
  const auto quick = session::relative_times({2, 4, 8});
  const auto slow = session::relative_times({20, 40, 80});
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(quick[i] == doctest::Approx(std::vector<double>{0.5, 1, 2}[i]));
    CHECK(slow[i] == doctest::Approx(quick[i]));
  }
}

TEST_CASE("who has left is not the leader, however fast its only epoch was") {
  Race race(3, {.rounds = 1, .hopeless = 1.03});
  race.add_epoch({{10, 10.1, 10.5}});  // the last one leaves
  for (int epoch = 0; epoch < 2; ++epoch) race.add_epoch({{20, 20.2}});
  CHECK_FALSE(race.still_runs(2));
  CHECK(race.leader() == 0);
}

TEST_CASE("twenty reruns agree on the winner or tie with it where finalists are a fifth of a per cent apart") {
  // Between neighbours that is a fifth of what a single epoch's ratio varies by: told apart by nobody in one epoch.
  for (const double step : {0.002, 0.003}) {
    for (std::uint64_t series = 1; series <= 5; ++series) {
      const Reruns reruns(field(12, 1 + step, 1 + 11 * step), series);
      CAPTURE(step);
      CAPTURE(series);
      MESSAGE("step ", step, ", series ", series, ": ", reruns.agreeing, " of 20 agree");
      CHECK(reruns.agreeing >= 19);
      CHECK(reruns.most_tied <= Race::kFew);
      // The median of 21 such ratios is off by 0.93 % x 1.25 / sqrt(21) = 0.25 %, and this is three times that.
      CHECK(reruns.worst_regret <= 0.0075);
    }
  }
}

TEST_CASE("a few equal finalists mostly tie with each other in reruns, and slower ones never tie") {
  // The medians of equal ones differ by 0.25 % (one standard deviation, as above), so that the slowest of three is often further
  // from the fastest than what still counts as a tie: nine in ten agree, not nineteen in twenty.
  int agreeing = 0;
  for (std::uint64_t series = 1; series <= 10; ++series) {
    const Reruns reruns({10, 10, 10, 10.2, 10.2, 10.2, 10.3, 10.3, 10.4}, series);
    agreeing += reruns.agreeing;
    CHECK(reruns.most_tied <= 3);
    CHECK(reruns.worst_regret == 0);
  }
  MESSAGE(agreeing, " of 200 agree");
  CHECK(agreeing >= 175);
}

TEST_CASE("of more equal finalists than may tie any five may be told, and the winner is none that is slower") {
  // Reruns need not agree here: five of twelve are named, and the modal winner may be among the other seven.
  for (std::uint64_t series = 1; series <= 3; ++series) {
    const Reruns reruns(field(12, 1.0005, 1.0055), series);
    MESSAGE("series ", series, ": ", reruns.agreeing, " of 20 agree");
    CHECK(reruns.most_tied == Race::kFew);
    CHECK(reruns.worst_regret < 0.0055);
  }
}

}  // namespace test_race
