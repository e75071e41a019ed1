// Which shards' devices are not what they look like.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "tools/fleet/agreement.hpp"

namespace test_fleet_agreement {

using namespace attune;
using tools::Agreement;
using tools::ShardAgreement;

namespace {

db::RecordRow record(const std::string& device, int configuration, double us) {
  db::RecordRow row;
  row.device_key = device;
  row.problem = R"({"n":1024})";
  row.configuration = std::to_string(configuration);
  row.outcome = "ok";
  row.origin = "measured";
  row.median_us = us;
  row.low_us = us * 0.995;
  row.high_us = us * 1.005;
  return row;
}

/// A shard that measured so many configurations, each `slower` than the fleet.
void add_shard(Agreement& agreement, std::size_t shard, double slower, int configurations = 20, const std::string& device = "a") {
  for (int i = 0; i < configurations; ++i) agreement.add(shard, record(device, i, (10 + i) * slower));
}

std::vector<std::size_t> named(const Agreement& agreement) {
  std::vector<std::size_t> shards;
  for (const auto& one : agreement.result()) {
    if (one.disagrees) shards.push_back(one.shard);
  }
  return shards;
}

}  // namespace

TEST_CASE("a shard whose device is slower than the others of its kind is named with its ratio, and the others are not") {
  Agreement agreement(0.05);
  for (std::size_t shard = 0; shard < 5; ++shard) add_shard(agreement, shard, shard == 3 ? 1.25 : 1);
  const auto result = agreement.result();
  REQUIRE(result.size() == 5);
  CHECK(named(agreement) == std::vector<std::size_t>{3});
  CHECK(result[3].ratio == doctest::Approx(1.25));
  CHECK(result[3].compared == 20);
  CHECK(result[3].apart == 20);
  CHECK(result[0].ratio == doctest::Approx(1));
}

TEST_CASE("devices of one kind may differ by the tolerance, however narrow their intervals are") {
  Agreement agreement(0.05);
  for (std::size_t shard = 0; shard < 5; ++shard) add_shard(agreement, shard, shard == 3 ? 1.04 : 1);
  CHECK(named(agreement).empty());
}

TEST_CASE("one noisy configuration is no device, and wide intervals disagree with nobody") {
  Agreement agreement(0.05);
  for (std::size_t shard = 0; shard < 3; ++shard) add_shard(agreement, shard, 1);
  for (int i = 0; i < 20; ++i) {
    auto row = record("a", i, 10 + i);
    if (i == 0) row.median_us *= 3;
    agreement.add(3, row);
    auto wide = record("a", i, (10 + i) * 1.2);
    wide.low_us = 0.1;
    agreement.add(4, wide);
  }
  CHECK(named(agreement).empty());
}

TEST_CASE("devices of different kinds are not compared, nor what failed or was replayed") {
  Agreement agreement(0.05);
  add_shard(agreement, 0, 1);
  add_shard(agreement, 1, 2, 20, "b");
  auto replayed = record("a", 0, 99);
  replayed.origin = "recording:x";
  agreement.add(2, replayed);
  auto failed = record("a", 0, 99);
  failed.outcome = "wrong_result";
  agreement.add(2, failed);
  CHECK(agreement.result().empty());
}

TEST_CASE("of two shards that differ both are named: nobody can say which is wrong") {
  Agreement agreement(0.05);
  add_shard(agreement, 0, 1);
  add_shard(agreement, 1, 1.3);
  CHECK(named(agreement) == std::vector<std::size_t>{0, 1});
}

TEST_CASE("of many configurations the same ones are compared, in whatever order they come") {
  const auto compared = [](unsigned seed) {
    std::vector<std::pair<std::size_t, int>> all;
    for (std::size_t shard = 0; shard < 3; ++shard) {
      for (int i = 0; i < 1000; ++i) all.emplace_back(shard, i);
    }
    std::mt19937 random(seed);
    std::shuffle(all.begin(), all.end(), random);
    Agreement agreement(0.05);
    for (const auto& [shard, i] : all) agreement.add(shard, record("a", i, (10 + i) * (shard == 1 && i % 3 > 0 ? 1.2 : 1)));
    return agreement.result();
  };
  const auto first = compared(1), second = compared(2);
  REQUIRE(first.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(first[i].compared == Agreement::kMostConfigurations);
    CHECK(first[i].apart == second[i].apart);
    CHECK(first[i].ratio == second[i].ratio);
    CHECK(first[i].disagrees == (i == 1));
  }
}

TEST_CASE("what shards told one by one comes to the same as all at once, bounded as well") {
  Agreement at_once(0.05), one_by_one(0.05);
  constexpr int kMany = 3 * static_cast<int>(Agreement::kMostConfigurations);
  for (std::size_t shard = 0; shard < 4; ++shard) {
    const double slower = shard == 2 ? 1.3 : 1;
    add_shard(at_once, shard, slower, kMany);
    Agreement own(0.05);
    add_shard(own, shard, slower, kMany);
    one_by_one.add(own);
  }
  const auto wanted = at_once.result(), found = one_by_one.result();
  REQUIRE(found.size() == wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    CHECK(found[i].shard == wanted[i].shard);
    CHECK(found[i].ratio == wanted[i].ratio);
    CHECK(found[i].compared == Agreement::kMostConfigurations);
    CHECK(found[i].compared == wanted[i].compared);
    CHECK(found[i].apart == wanted[i].apart);
  }
  CHECK(named(one_by_one) == std::vector<std::size_t>{2});
}

}  // namespace test_fleet_agreement
