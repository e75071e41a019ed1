// What is tried around the fastest: by itself, and as the end of another strategy's search.
#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "small_spaces.hpp"
#include "tuner/search/polish.hpp"
#include "tuner/search/polished.hpp"

namespace test_polish {

using namespace attune;
using search::Polish;
using search::Polished;
using small_spaces::Row;
using space::Neighbourhood;
using space::Ordinal;
using space::SearchSpace;

namespace {

SearchSpace whole_space() {
  return small_spaces::space_of({5, 4, 3}, [](const Row&) { return true; });
}

std::vector<Ordinal> around(const SearchSpace& space, Ordinal ordinal) { return space.neighbours(ordinal, Neighbourhood::Hamming); }

/// In their order, without those that were tried.
std::vector<Ordinal> untried(std::vector<Ordinal> ordinals, const std::set<Ordinal>& tried) {
  std::erase_if(ordinals, [&](Ordinal ordinal) { return tried.contains(ordinal); });
  return ordinals;
}

/// Everything that it proposes, at most so much.
std::vector<Ordinal> proposals(Polish& polish, std::size_t most = 1000) {
  std::vector<Ordinal> all;
  while (all.size() < most) {
    const auto ordinal = polish.propose();
    if (!ordinal) break;
    polish.note_proposal(*ordinal);
    all.push_back(*ordinal);
  }
  return all;
}

/// Proposes what it is told to, and keeps what it is told.
class Scripted final : public search::Strategy {
 public:
  using Reports = std::vector<std::pair<Ordinal, std::optional<double>>>;

  Scripted(std::deque<Ordinal> script, Reports& reports) : script_(std::move(script)), reports_(reports) {}

  [[nodiscard]] std::optional<Ordinal> propose() override {
    if (script_.empty()) return std::nullopt;
    const Ordinal next = script_.front();
    script_.pop_front();
    return next;
  }
  void report(Ordinal ordinal, std::optional<double> median_us) override { reports_.emplace_back(ordinal, median_us); }
  [[nodiscard]] std::size_t most_pending() const override { return 7; }

 private:
  std::deque<Ordinal> script_;
  Reports& reports_;
};

std::deque<Ordinal> all_of(const SearchSpace& space) {
  std::deque<Ordinal> all;
  for (Ordinal ordinal = 0; ordinal < space.size(); ++ordinal) all.push_back(ordinal);
  return all;
}

}  // namespace

TEST_CASE("polish proposes the untried neighbours of the fastest, then of the second, and of none that is slower or failed") {
  const SearchSpace space = whole_space();
  const Ordinal fastest = *space.find({{2, 1, 1}}), second = *space.find({{0, 3, 2}}), third = *space.find({{4, 0, 0}}),
                failed = *space.find({{2, 2, 2}}), proposed = *space.find({{2, 1, 0}});
  Polish polish(space, 2);
  polish.report(third, 3.0);
  polish.report(fastest, 1.0);
  polish.report(failed, std::nullopt);
  polish.report(second, 2.0);
  polish.note_proposal(proposed);

  std::set<Ordinal> tried{fastest, second, third, failed, proposed};
  auto expected = untried(around(space, fastest), tried);
  REQUIRE(expected.size() == 8);  // of nine
  tried.insert(expected.begin(), expected.end());
  const auto of_second = untried(around(space, second), tried);
  REQUIRE(of_second.size() == 9);
  expected.insert(expected.end(), of_second.begin(), of_second.end());
  CHECK(proposals(polish) == expected);
  CHECK_FALSE(polish.propose());
}

TEST_CASE("polish goes on around a faster one as soon as it is reported, and afterwards where it was") {
  const SearchSpace space = whole_space();
  const Ordinal first = *space.find({{1, 1, 1}}), faster = *space.find({{3, 2, 0}});
  Polish polish(space, 3);
  polish.report(first, 2.0);
  const auto begun = proposals(polish, 2);
  polish.report(faster, 1.0);

  std::set<Ordinal> tried{first, faster};
  const auto of_first = untried(around(space, first), tried);
  CHECK(begun == std::vector<Ordinal>(of_first.begin(), of_first.begin() + 2));
  tried.insert(begun.begin(), begun.end());
  auto expected = untried(around(space, faster), tried);
  tried.insert(expected.begin(), expected.end());
  const auto rest = untried(of_first, tried);
  expected.insert(expected.end(), rest.begin(), rest.end());
  CHECK(proposals(polish) == expected);
}

TEST_CASE("polish leaves the neighbours of what is among the fastest no more") {
  const SearchSpace space = whole_space();
  const Ordinal left = *space.find({{0, 0, 0}}), faster = *space.find({{4, 3, 2}});
  Polish polish(space, 1);
  polish.report(left, 2.0);
  CHECK(proposals(polish, 1).size() == 1);
  polish.report(faster, 1.0);
  CHECK(proposals(polish) == around(space, faster));  // none of which is one of the other's
}

TEST_CASE("polish proposes nothing while nothing worked, nor where all is tried") {
  const SearchSpace space = whole_space();
  Polish polish(space, 3);
  CHECK_FALSE(polish.propose());
  polish.report(7, std::nullopt);
  CHECK_FALSE(polish.propose());
  CHECK(polish.was_proposed(7));
  CHECK_FALSE(polish.was_proposed(8));
  for (Ordinal ordinal = 8; ordinal < space.size(); ++ordinal) polish.note_proposal(ordinal);
  for (Ordinal ordinal = 0; ordinal < 7; ++ordinal) polish.note_proposal(ordinal);
  polish.report(8, 1.0);
  CHECK_FALSE(polish.propose());
}

TEST_CASE("a polished strategy proposes by itself until the end is near, then the neighbours of the three fastest, then by itself") {
  const SearchSpace space = whole_space();
  Scripted::Reports reports;
  Polished polished(std::make_unique<Scripted>(all_of(space), reports), space);
  CHECK(polished.most_pending() == 7);
  Polish expected(space, 3);
  const auto times = [](Ordinal ordinal) {
    return ordinal == 9 ? std::nullopt : std::optional(1.0 + static_cast<double>(ordinal * 7 % 5));
  };
  const auto report = [&](Ordinal ordinal) {
    polished.report(ordinal, times(ordinal));
    expected.report(ordinal, times(ordinal));
  };
  for (Ordinal ordinal = 0; ordinal < 12; ++ordinal) {
    CHECK(polished.propose() == ordinal);
    report(ordinal);
  }
  CHECK(reports.size() == 12);
  CHECK(reports[9] == std::pair(Ordinal{9}, std::optional<double>()));

  polished.end_is_near();
  std::set<Ordinal> around_fastest;
  while (const auto neighbour = expected.propose()) {
    REQUIRE(polished.propose() == neighbour);
    around_fastest.insert(*neighbour);
    report(*neighbour);
  }
  CHECK(around_fastest.size() > 10);
  Ordinal before = 11;  // the inner strategy goes on where it was, without what the other one has proposed
  while (const auto ordinal = polished.propose()) {
    CHECK(*ordinal > before);
    CHECK_FALSE(around_fastest.contains(*ordinal));
    before = *ordinal;
    polished.report(before, 10.0);
  }
  CHECK(reports.size() == space.size());
}

TEST_CASE("a polished strategy proposes every configuration once, whenever the end is near and however late reports are") {
  const SearchSpace space = small_spaces::space_of({6, 5, 4}, [](const Row& row) { return (row[0] + row[1]) % 3 != 1; });
  for (const std::size_t near_at : {0, 1, 20, 70}) {
    for (const std::size_t pending : {0, 5}) {
      CAPTURE(near_at);
      CAPTURE(pending);
      Scripted::Reports reports;
      Polished polished(std::make_unique<Scripted>(all_of(space), reports), space);
      std::vector<Ordinal> proposed;
      std::deque<Ordinal> waiting;
      while (true) {
        if (proposed.size() == near_at) polished.end_is_near();
        const auto ordinal = polished.propose();
        if (!ordinal) break;
        proposed.push_back(*ordinal);
        waiting.push_back(*ordinal);
        if (waiting.size() <= pending) continue;
        polished.report(waiting.front(),
                        waiting.front() % 4 == 0 ? std::nullopt : std::optional(1.0 / static_cast<double>(proposed.size())));
        waiting.pop_front();
      }
      CHECK(proposed.size() == space.size());
      CHECK(std::set<Ordinal>(proposed.begin(), proposed.end()).size() == space.size());
      CHECK_FALSE(polished.propose());
    }
  }
}

}  // namespace test_polish
