#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "tuner/space/permutation.hpp"

namespace test_permutation {

using attune::space::draw_below;
using attune::space::LazyPermutation;

namespace {

std::vector<std::uint64_t> draw_all(std::uint64_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  LazyPermutation order(size);
  std::vector<std::uint64_t> drawn;
  while (const auto next = order.next(random)) drawn.push_back(*next);
  return drawn;
}

}  // namespace

TEST_CASE("a permutation of a seed is the one that the algorithm gives everywhere") {
  // From an independent implementation of mt19937_64, rejection and Fisher-Yates over a full array, in Python.
  CHECK(draw_all(12, 7) == std::vector<std::uint64_t>{3, 8, 10, 6, 9, 0, 4, 2, 5, 11, 7, 1});
  CHECK(draw_all(12, 8) == std::vector<std::uint64_t>{1, 4, 6, 7, 9, 2, 8, 11, 3, 10, 0, 5});
}

TEST_CASE("a bounded draw rejects the values that would come once more often than the others") {
  // bound = 2^63 + 1: 2^64 mod bound = 2^63 - 1 of the raw values are drawn again; seed 1 rejects
  // five before its first, seed 2 none.
  const std::uint64_t bound = (std::uint64_t{1} << 63) + 1;
  std::mt19937_64 first(1);
  CHECK(draw_below(first, bound) == 7588216632478230600u);
  std::mt19937_64 second(2);
  CHECK(draw_below(second, bound) == 7445180178319379019u);
}

TEST_CASE("a permutation holds every element exactly once, for any size") {
  for (const std::uint64_t size : {0u, 1u, 2u, 3u, 17u, 1000u}) {
    auto drawn = draw_all(size, 42);
    std::sort(drawn.begin(), drawn.end());
    std::vector<std::uint64_t> expected(size);
    std::iota(expected.begin(), expected.end(), 0);
    CHECK(drawn == expected);
  }
}

TEST_CASE("every order of three elements is equally likely") {
  std::vector<int> times(27, 0);
  constexpr int kTrials = 12000;
  std::mt19937_64 random(3);
  for (int trial = 0; trial < kTrials; ++trial) {
    LazyPermutation order(3);
    std::uint64_t code = 0;
    while (const auto next = order.next(random)) code = code * 3 + *next;
    ++times[code];
  }
  int seen = 0;
  for (const int count : times) {
    if (count == 0) continue;
    ++seen;
    CHECK(std::abs(count - kTrials / 6) < 200);  // binomial deviation 41: five of them
  }
  CHECK(seen == 6);
}

TEST_CASE("the first draws of a space of 2^60 need no memory for the rest") {
  std::mt19937_64 random(9);
  LazyPermutation order(std::uint64_t{1} << 60);
  std::set<std::uint64_t> drawn;
  for (int i = 0; i < 1000; ++i) drawn.insert(order.next(random).value());
  CHECK(drawn.size() == 1000);
  CHECK(*drawn.rbegin() < (std::uint64_t{1} << 60));
}

}  // namespace test_permutation
