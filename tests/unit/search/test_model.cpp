#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <set>

#include "tests/unit/search/learning.hpp"
#include "tuner/search/model.hpp"

namespace test_model {

using namespace attune;
using namespace attune::search;
using namespace attune::search::test;
using space::Ordinal;

namespace {

/// What a search proposes when each result comes after `pending` later proposals.
std::vector<Ordinal> searched(const space::SearchSpace& space, const MadeUpKernel& kernel, std::uint64_t seed, std::size_t budget,
                              std::size_t pending = 0, std::optional<Ordinal> first = std::nullopt) {
  Model model(space, seed, first);
  std::vector<Ordinal> proposed;
  std::deque<Ordinal> under_way;
  const auto report_first = [&] {
    model.report(under_way.front(), kernel(space, under_way.front()));
    under_way.pop_front();
  };
  while (proposed.size() < budget) {
    const auto ordinal = model.propose();
    if (!ordinal) break;
    proposed.push_back(*ordinal);
    under_way.push_back(*ordinal);
    if (under_way.size() > pending) report_first();
  }
  while (!under_way.empty()) report_first();
  return proposed;
}

double best_of(const space::SearchSpace& space, const MadeUpKernel& kernel, const std::vector<Ordinal>& proposed) {
  double best = std::numeric_limits<double>::infinity();
  for (const auto ordinal : proposed) best = std::min(best, kernel(space, ordinal).value_or(best));
  return best;
}

}  // namespace

TEST_CASE("model proposes every configuration once and then nothing, also where everything fails") {
  const auto space = all_of({powers_of_two("a", 5), multiples("b", 8, 6), choices("c", 2)});
  for (const int most : {1000, 4, -1}) {
    CAPTURE(most);
    auto proposed = searched(space, {{2, 3, 1}, most}, 1, 1000, 3);
    CHECK(proposed.size() == space.size());
    CHECK(std::set<Ordinal>(proposed.begin(), proposed.end()).size() == space.size());
  }
}

TEST_CASE("model begins with the first configuration, and one seed gives one search") {
  const auto space = all_of({powers_of_two("a", 8), multiples("b", 8, 16), choices("c", 3)});
  const MadeUpKernel kernel{{3, 7, 2}, 16};
  const auto once = searched(space, kernel, 5, 40, 4, Ordinal{77});
  CHECK(once.front() == 77);
  CHECK(once == searched(space, kernel, 5, 40, 4, Ordinal{77}));
  CHECK(once != searched(space, kernel, 6, 40, 4, Ordinal{77}));
}

TEST_CASE("model finds the best of thousands, or one step from it, in 100 trials") {
  const auto space = all_of({powers_of_two("a", 8), multiples("b", 8, 16), choices("c", 4), powers_of_two("d", 8)});
  REQUIRE(space.size() == 4096);
  const MadeUpKernel kernel{{6, 9, 2, 1}, 17};
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    const double one_step = 1.2215;  // exp(0.2): 14 of 4096 are within, so that random ones find one in 100 trials three times of ten
    CHECK(best_of(space, kernel, searched(space, kernel, seed, 100)) < one_step);
    CHECK(best_of(space, kernel, searched(space, kernel, seed, 100, 7)) < one_step);  // results come late
  }
}

TEST_CASE("model keeps away from where configurations fail") {
  const auto space = all_of({powers_of_two("a", 8), multiples("b", 8, 16), choices("c", 4), powers_of_two("d", 8)});
  const MadeUpKernel kernel{{3, 3, 2, 1}, 9};  // half of them fail
  std::ptrdiff_t failed = 0;
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto proposed = searched(space, kernel, seed, 80);
    failed += std::count_if(proposed.begin() + 20, proposed.end(), [&](Ordinal ordinal) { return !kernel(space, ordinal); });
  }
  CHECK(failed < 72);  // of 180; of random ones about 90
}

TEST_CASE("model takes what it did not propose for a result, and does not propose it") {
  const auto space = all_of({powers_of_two("a", 8), multiples("b", 8, 16)});
  const MadeUpKernel kernel{{5, 9}};
  Model model(space, 1, std::nullopt);
  for (Ordinal told = 0; told < 100; ++told) model.report(told, kernel(space, told));
  for (int i = 0; i < 10; ++i) CHECK(model.propose().value() >= 100);
}

TEST_CASE("model does not propose the first configuration where it was told of it before") {
  const auto space = all_of({powers_of_two("a", 8), multiples("b", 8, 16)});
  Model model(space, 1, Ordinal{77});
  model.report(77, 2.0);
  for (int i = 0; i < 10; ++i) CHECK(model.propose().value() != 77);
}

TEST_CASE("model wants few results to be pending while it knows little") {
  const auto space = all_of({powers_of_two("a", 8), multiples("b", 8, 16)});
  const MadeUpKernel kernel{{5, 9}};
  Model model(space, 1, std::nullopt);
  CHECK(model.most_pending() == 16);
  for (Ordinal told = 0; told < 100; ++told) model.report(told, kernel(space, told));
  CHECK(model.most_pending() == 25);
}

TEST_CASE("near the end model proposes untried neighbours of the fastest alone while there are some") {
  const auto space = all_of({powers_of_two("a", 8), multiples("b", 8, 16), choices("c", 4)});
  const MadeUpKernel kernel{{5, 9, 2}, 18};
  Model model(space, 1, std::nullopt);
  std::set<Ordinal> tried;
  std::optional<Ordinal> fastest;
  std::size_t neighbours = 0, others = 0;
  for (int i = 0; i < 100; ++i) {
    if (i == 25) model.end_is_near();
    const auto ordinal = model.propose().value();
    std::set<Ordinal> untried;
    if (fastest)
      for (const auto neighbour : space.neighbours(*fastest, space::Neighbourhood::Hamming))
        if (!tried.contains(neighbour)) untried.insert(neighbour);
    if (i >= 25) {
      REQUIRE(untried.contains(ordinal) == !untried.empty());
      ++(untried.empty() ? others : neighbours);
    }
    CHECK(tried.insert(ordinal).second);
    const auto time = kernel(space, ordinal);
    model.report(ordinal, time);
    if (time && (!fastest || *time < *kernel(space, *fastest))) fastest = ordinal;
  }
  CHECK(neighbours >= 15);
  CHECK(others >= 15);  // it goes on afterwards
}

TEST_CASE("model says what it expects once it has learnt, and of neighbours near the end nothing") {
  const auto space = all_of({powers_of_two("a", 8), multiples("b", 8, 16)});
  const MadeUpKernel kernel{{5, 9}};
  Model model(space, 1, std::nullopt);
  for (int i = 0; i < 8; ++i) {
    const auto ordinal = model.propose().value();
    CHECK_FALSE(model.expected_gain());
    model.report(ordinal, kernel(space, ordinal));
  }
  const auto ordinal = model.propose().value();
  REQUIRE(model.expected_gain());
  CHECK(*model.expected_gain() > 0.01);  // a step of one parameter is a fifth
  model.report(ordinal, kernel(space, ordinal));
  model.end_is_near();
  CHECK(model.propose());
  CHECK_FALSE(model.expected_gain());
}

TEST_CASE("model expects nothing more of a space that it understands, nor of one where all are the same") {
  const auto space = all_of({powers_of_two("a", 8), multiples("b", 8, 16)});
  const MadeUpKernel slopes{{5, 9}};
  const auto proposals_until_little = [&](const std::function<double(Ordinal)>& time) {
    Model model(space, 1, std::nullopt);
    for (int proposals = 1; proposals <= 128; ++proposals) {
      const auto ordinal = model.propose().value();
      if (model.expected_gain() && *model.expected_gain() < 0.005) return proposals;
      model.report(ordinal, time(ordinal));
    }
    return 1000;
  };
  CHECK(proposals_until_little([&](Ordinal ordinal) { return slopes(space, ordinal).value(); }) < 64);  // half of the space
  for (const double us : {1.0, 3.7, 5000.0}) CHECK(proposals_until_little([&](Ordinal) { return us; }) == 9);
}

TEST_CASE("model begins with numbers that two divides often") {
  const auto space = all_of({multiples("a", 1, 64), multiples("b", 3, 64)});
  const auto twos_of = [&](Ordinal ordinal) {
    const auto row = space.row(ordinal);
    return std::countr_zero(row[0] + 1U) + std::countr_zero(row[1] + 1U);
  };
  double of_all = 0, of_first = 0;
  for (Ordinal ordinal = 0; ordinal < space.size(); ++ordinal) of_all += twos_of(ordinal);
  std::set<Ordinal> first_trials;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Model model(space, seed, std::nullopt);
    for (int i = 0; i < 8; ++i) {
      const auto ordinal = model.propose().value();
      of_first += twos_of(ordinal);
      first_trials.insert(ordinal);
      model.report(ordinal, 1.0);
    }
  }
  CHECK(of_first / 80 > 2 * of_all / 4096);  // the farthest of any draws have 1.8 times as many
  CHECK(first_trials.size() > 60);           // and are not the same few
}

TEST_CASE("model takes what another strategy has proposed for proposed") {
  const auto space = all_of({powers_of_two("a", 4), choices("b", 3)});
  Model model(space, 1, std::nullopt);
  for (const Ordinal noted : {0, 5, 7}) model.note_proposal(noted);
  std::set<Ordinal> proposed;
  while (const auto ordinal = model.propose()) {
    CHECK(proposed.insert(*ordinal).second);
    model.report(*ordinal, 1.0 + static_cast<double>(*ordinal));
  }
  CHECK(proposed.size() == space.size() - 3);
  for (const Ordinal noted : {0, 5, 7}) CHECK_FALSE(proposed.contains(noted));
}

TEST_CASE("hints say what was measured, predict what was not, and leave out sources that measured next to nothing") {
  const auto space = all_of({powers_of_two("a", 8), multiples("b", 8, 16)});
  const MadeUpKernel kernel{{5, 9}};
  HintSource every_third, too_few{{3, 1.0}, {4, 2.0}, {5, std::nullopt}};
  for (Ordinal ordinal = 0; ordinal < space.size(); ordinal += 3)
    every_third.push_back({ordinal, ordinal == 60 ? std::nullopt : std::optional(1000 * kernel(space, ordinal).value())});
  CHECK(Hints(space, {too_few}).empty());
  CHECK(Hints(space, {}).empty());
  const Hints hints(space, {every_third, too_few});
  CHECK_FALSE(hints.empty());
  double least = std::numeric_limits<double>::infinity();
  for (const auto& hint : every_third) least = std::min(least, hint.cost.value_or(least));
  CHECK(hints.log_behind(30) == doctest::Approx(std::log(1000 * kernel(space, 30).value() / least)));
  CHECK(hints.valid_share(30) == 1);
  CHECK(hints.valid_share(60) == 0);
  CHECK(hints.valid_share(61) == 1);  // nobody tried it
  double off = 0;
  for (Ordinal ordinal = 1; ordinal < space.size(); ordinal += 3)
    off += std::abs(hints.log_behind(ordinal) - std::max(std::log(1000 * kernel(space, ordinal).value() / least), 0.0));
  CHECK(off / 43 < 0.2);  // one step of a parameter; the values are up to 3 apart
  const auto best = hints.best(5);
  REQUIRE(best.size() == 5);
  CHECK(hints.log_behind(best.front()) == 0);
  CHECK(std::is_sorted(best.begin(), best.end(), [&](Ordinal a, Ordinal b) { return hints.log_behind(a) < hints.log_behind(b); }));
}

TEST_CASE("hints take what a source says twice as said once") {
  const auto space = all_of({powers_of_two("a", 8), multiples("b", 8, 16)});
  HintSource once;
  std::uint64_t noise = 12345;
  for (Ordinal ordinal = 0; ordinal < space.size(); ordinal += 4) {
    noise = noise * 6364136223846793005ULL + 1442695040888963407ULL;  // of nearly half of what the parameters make of it
    once.push_back({ordinal, MadeUpKernel{{5, 9}}(space, ordinal).value() * (1 + static_cast<double>(noise >> 40) / 0x1p24)});
  }
  HintSource twice = once;
  twice.insert(twice.end(), once.begin(), once.end());
  const Hints of_once(space, {once}), of_twice(space, {twice});
  for (const Ordinal unmeasured : {1, 30, 99}) CHECK(of_twice.log_behind(unmeasured) == of_once.log_behind(unmeasured));
  CHECK(Hints(space, {{{3, 1.0}, {4, 2.0}, {3, 1.5}}}).empty());  // two measurements
}

TEST_CASE("with hints of a like kernel model is near the best at once, and misleading ones do not keep it from it") {
  const auto space = all_of({powers_of_two("a", 8), multiples("b", 8, 16), choices("c", 4), powers_of_two("d", 8)});
  const MadeUpKernel here{{6, 9, 2, 1}}, like{{5, 10, 2, 2}}, other{{0, 0, 0, 7}};
  const auto hints_of = [&](const MadeUpKernel& kernel) {
    HintSource source;
    for (Ordinal ordinal = 0; ordinal < space.size(); ordinal += 5) source.push_back({ordinal, kernel(space, ordinal)});
    return std::make_shared<const Hints>(space, std::vector<HintSource>{source});
  };
  const auto best_with = [&](const std::shared_ptr<const Hints>& hints, int trials) {
    Model model(space, 1, std::nullopt, hints);
    double best = std::numeric_limits<double>::infinity();
    for (int i = 0; i < trials; ++i) {
      const auto ordinal = model.propose().value();
      best = std::min(best, here(space, ordinal).value());
      model.report(ordinal, here(space, ordinal));
    }
    return best;
  };
  const double two_steps = 1.5;
  CHECK(best_with(hints_of(like), 12) < two_steps);
  CHECK(best_with(nullptr, 12) > two_steps);
  CHECK(best_with(hints_of(other), 100) < two_steps);
}

}  // namespace test_model
