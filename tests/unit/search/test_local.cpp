#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "small_spaces.hpp"
#include "tuner/search/local.hpp"

namespace test_local {

using namespace attune;
using search::Local;
using small_spaces::Row;
using small_spaces::row_of;
using space::Neighbourhood;
using space::Ordinal;
using space::SearchSpace;

namespace {

SearchSpace whole_space() {
  return small_spaces::space_of({7, 6, 5, 3}, [](const Row&) { return true; });
}

/// Falls to one place; the sum's parts have no other minimum.
double cone(const SearchSpace& space, Ordinal ordinal) {
  const Row row = row_of(space, ordinal), least = {4, 1, 3, 2};
  double sum = 1;
  for (std::size_t i = 0; i < row.size(); ++i) sum += row[i] > least[i] ? 1.5 * (row[i] - least[i]) : least[i] - row[i];
  return sum;
}

std::set<Ordinal> around(const SearchSpace& space, Ordinal ordinal) {
  const auto neighbours = space.neighbours(ordinal, Neighbourhood::Hamming);
  return {neighbours.begin(), neighbours.end()};
}

}  // namespace

TEST_CASE("local tries every neighbour of a minimum before it begins elsewhere") {
  const SearchSpace space = whole_space();
  const Ordinal minimum = *space.find({{4, 1, 3, 2}});
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Local local(space, seed, std::nullopt);
    std::set<Ordinal> untried = around(space, minimum);
    Ordinal proposed = space.size();
    std::size_t evaluations = 0;
    while (proposed != minimum) {
      proposed = local.propose().value();
      untried.erase(proposed);
      local.report(proposed, cone(space, proposed));
      ++evaluations;
    }
    CHECK(evaluations < 100);  // it descended: by chance it would take 315 in the mean
    REQUIRE_FALSE(untried.empty());
    while (!untried.empty()) {
      proposed = local.propose().value();
      REQUIRE(untried.erase(proposed) == 1);
      local.report(proposed, cone(space, proposed));
    }
    const std::set<Ordinal> neighbours = around(space, minimum);
    std::size_t elsewhere = 0;
    for (int i = 0; i < 5; ++i) elsewhere += 1 - neighbours.count(local.propose().value());
    CHECK(elsewhere == 5);
  }
}

TEST_CASE("local goes on from the first neighbour that is faster") {
  const SearchSpace space = whole_space();
  const Ordinal start = *space.find({{0, 5, 0, 0}});
  Local local(space, 3, start);
  // Only the first start is valid among those that the first descent is chosen of.
  CHECK(local.propose() == start);
  local.report(start, 100.0);
  Ordinal current = start, proposed = 0;
  for (;;) {
    proposed = local.propose().value();
    if (around(space, start).contains(proposed)) break;
    local.report(proposed, std::nullopt);
  }
  double cost = 100;
  for (int step = 0; step < 20; ++step) {
    CHECK(around(space, current).contains(proposed));
    const bool is_faster = step % 3 == 0;
    if (is_faster) current = proposed;
    local.report(proposed, is_faster ? --cost : 200.0);
    proposed = local.propose().value();
  }
}

TEST_CASE("local goes on with a descent that a late report leads on") {
  const SearchSpace space = whole_space();
  const Ordinal start = *space.find({{3, 3, 3, 1}});
  Local local(space, 3, start);
  CHECK(local.propose() == start);
  local.report(start, 100.0);
  const std::set<Ordinal> neighbours = around(space, start);
  std::optional<Ordinal> late;
  std::size_t tried = 0;
  while (tried < neighbours.size()) {
    const Ordinal proposed = local.propose().value();
    const bool is_neighbour = neighbours.contains(proposed);
    tried += is_neighbour ? 1 : 0;
    if (is_neighbour && !late) {
      late = proposed;
    } else {
      local.report(proposed, is_neighbour ? std::optional(150.0) : std::nullopt);
    }
  }
  for (int i = 0; i < 3; ++i) CHECK_FALSE(around(space, late.value()).contains(local.propose().value()));
  local.report(late.value(), 50.0);
  CHECK(around(space, late.value()).contains(local.propose().value()));
}

}  // namespace test_local
