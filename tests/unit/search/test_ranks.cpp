#include <doctest/doctest.h>

#include <set>

#include "small_spaces.hpp"
#include "tuner/search/draws.hpp"
#include "tuner/search/ranks.hpp"
#include "tuner/search/turns.hpp"

namespace test_ranks {

using namespace attune;
using search::Ranks;
using small_spaces::Row;
using small_spaces::row_of;
using space::Ordinal;

namespace {

spec::Parameter parameter_of(const std::string& name, std::vector<spec::Value> values) {
  spec::Parameter parameter;
  parameter.name = name;
  parameter.values = std::move(values);
  return parameter;
}

}  // namespace

TEST_CASE("ranks order numbers by size and leave choices as they are listed") {
  const auto numbers = parameter_of("numbers", {std::int64_t{32}, std::int64_t{8}, std::int64_t{16}});
  const auto choices = parameter_of("choices", {std::string("z"), std::string("a"), std::string("m")});
  const auto space = space::SearchSpace::build({numbers, choices}, {}, [](std::string_view) { return std::nullopt; });
  const Ranks ranks(space);
  CHECK(ranks.point(space.find({{0, 1}}).value()) == std::vector<double>{2, 1});
  CHECK(ranks.point(space.find({{1, 2}}).value()) == std::vector<double>{0, 2});
  std::mt19937_64 random(1);
  CHECK(row_of(space, ranks.configuration_at(std::vector<double>{0.6, 1.4}, 0, random)) == Row{2, 1});
  CHECK(row_of(space, ranks.configuration_at(std::vector<double>{-3, 9}, 0, random)) == Row{1, 2});
}

TEST_CASE("a point outside of the space becomes the nearest configuration that differs from it in one parameter") {
  // (2, 2) is missing, and what is a step from it by the first parameter.
  const auto space = small_spaces::space_of({5, 5}, [](const Row& row) { return row[1] != 2 || row[0] == 0 || row[0] == 4; });
  const Ranks ranks(space);
  std::mt19937_64 random(1);
  std::set<Row> found;
  for (int i = 0; i < 50; ++i) found.insert(row_of(space, ranks.configuration_at(std::vector<double>{2, 2}, 0, random)));
  CHECK(found == std::set<Row>{{2, 1}, {2, 3}});
}

TEST_CASE("a point far outside of the space becomes a configuration on the way to one inside") {
  const auto space = small_spaces::space_of({4, 4, 4}, [](const Row& row) { return row[0] + row[1] + row[2] <= 2; });
  const Ranks ranks(space);
  std::mt19937_64 random(1);
  const Ordinal inside = space.find({{0, 1, 0}}).value();
  for (int i = 0; i < 20; ++i) CHECK(ranks.configuration_at(std::vector<double>{3, 3, 3}, inside, random) == inside);
  std::set<Row> found;
  for (int i = 0; i < 50; ++i) found.insert(row_of(space, ranks.configuration_at(std::vector<double>{2, 2, 2}, inside, random)));
  CHECK(found == std::set<Row>{{0, 1, 0}, {0, 2, 0}});
}

TEST_CASE("members take turns, wait for one report each, and give up what never comes") {
  search::Turns turns(3);
  for (std::size_t member = 0; member < 3; ++member) {
    CHECK(turns.next() == member);
    turns.wait(member, 10 + member);
  }
  CHECK(turns.arrived(11) == 1);
  CHECK(turns.arrived(11) == std::nullopt);
  CHECK(turns.next() == 1);
  turns.wait(1, 14);
  CHECK(turns.next() == 2);  // all wait: it gives up
  CHECK(turns.arrived(12) == std::nullopt);
  CHECK(turns.arrived(10) == 0);
}

TEST_CASE("draws are the same on every platform") {
  // std::mt19937_64's first values are given by the standard; the mantissa is their upper 53 bits.
  std::mt19937_64 random;
  CHECK(search::draw_real(random) == static_cast<double>(14514284786278117030ULL >> 11) / 9007199254740992.0);
  std::vector<int> items = {0, 1, 2, 3, 4, 5, 6, 7};
  std::set<std::vector<int>> orders;
  for (int i = 0; i < 20; ++i) {
    search::shuffle(items, random);
    orders.insert(items);
    CHECK(std::set<int>(items.begin(), items.end()).size() == 8);
  }
  CHECK(orders.size() > 15);
}

}  // namespace test_ranks
