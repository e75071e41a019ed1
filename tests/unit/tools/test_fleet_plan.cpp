// How problems are divided among shards, and the file that says so.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "attune/error.hpp"
#include "tests/support/replaced.hpp"
#include "tools/fleet/balance.hpp"
#include "tools/fleet/manifest.hpp"

namespace test_fleet_plan {

using namespace attune;
using tools::Manifest;

namespace {

Manifest manifest() {
  Manifest one;
  one.attune_version = "0.1.0";
  one.attune_content = "57c5ef0995c48123";
  one.template_hash = "6d6c9bae2a59dfcb3135a0d85874c8b7";
  one.options.template_name = "reduce";
  one.options.where = {"block_size > 64"};
  one.options.finalists = 2;
  one.options.seed = 18446744073709551615u;
  one.problems = 4;
  one.controls = 1;
  one.carried = {{"try/0.db", "11"}};
  one.shards = {{"shards/0000.jsonl", "aa", 3, 12.5}, {"shards/0001.jsonl", "bb", 2, 9}};
  return one;
}

/// The message of a text that is refused.
std::string refusal(const std::string& text) {
  try {
    (void)Manifest::parse(text, "plan/manifest.json");
  } catch (const SpecError& error) {
    return error.what();
  }
  return "taken";
}

}  // namespace

TEST_CASE("the longest problem goes to the shard that has least to do, and every problem to one shard") {
  // 9 -> A, 7 -> B, 6 -> C, 5 -> C (6), 4 -> B (7), 3 -> A (9), 2 -> B or C (11): worked out by hand.
  const auto shares = tools::balance({2, 3, 4, 5, 6, 7, 9}, 3, 0);
  CHECK(shares.shards == std::vector<std::vector<std::size_t>>{{6, 1}, {5, 2, 0}, {4, 3}});
  CHECK(shares.seconds == std::vector<double>{12, 13, 11});
}

TEST_CASE("no shard has more than four thirds of the least possible longest time, and its share of many problems is even") {
  std::vector<double> seconds;
  for (int i = 0; i < 1000; ++i) seconds.push_back(1 + (i * 7919) % 100);
  const auto shares = tools::balance(seconds, 8, 0);
  const double mean = std::accumulate(seconds.begin(), seconds.end(), 0.0) / 8;
  CHECK(*std::max_element(shares.seconds.begin(), shares.seconds.end()) < mean * 1.01);
  std::multiset<std::size_t> all;
  for (const auto& shard : shares.shards) all.insert(shard.begin(), shard.end());
  CHECK(all.size() == 1000);
  CHECK(std::set<std::size_t>(all.begin(), all.end()).size() == 1000);
}

TEST_CASE("the cheapest problems are the controls, which every shard has and nobody has alone") {
  const auto shares = tools::balance({5, 1, 4, 2}, 2, 1);
  CHECK(shares.controls == std::vector<std::size_t>{1});
  CHECK(shares.shards == std::vector<std::vector<std::size_t>>{{0}, {2, 3}});
  CHECK(shares.seconds == std::vector<double>{6, 7});
}

TEST_CASE("a manifest that is read back says the same, and equal plans have one key") {
  const std::string text = manifest().text();
  const auto again = Manifest::parse(text, "manifest.json");
  CHECK(again.text() == text);
  CHECK(again.key() == manifest().key());
  CHECK(again.options.seed == 18446744073709551615u);
  CHECK(again.options.finalists == 2);
  CHECK(again.options.epochs == std::nullopt);
  CHECK(again.shard(1).problems == 2);
}

TEST_CASE("a malformed manifest is refused with file, line and column, or the field") {
  const std::string text = manifest().text();
  CHECK(refusal("{\n \"attune_fleet\": 1,\n ]") == "plan/manifest.json:3:2: " + refusal("{\n \"attune_fleet\": 1,\n ]").substr(24));
  CHECK(refusal(text.substr(0, text.size() / 2)).starts_with("plan/manifest.json:"));
  CHECK(refusal("[]").find("it is no JSON object") != std::string::npos);
  const auto with = [&](const std::string& what, const std::string& instead) { return refusal(test::replaced(text, what, instead)); };
  CHECK(with("\"attune_fleet\": 1", "\"attune_fleet\": 2").find("reads format 1") != std::string::npos);
  CHECK(with("\"problems\": 3", "\"problems\": \"3\"").find("shards[0].problems") != std::string::npos);
  CHECK(with("\"expected_s\": 9.0", "\"expected_s\": -1").find("shards[1].expected_s") != std::string::npos);
  CHECK(with("\"controls\": 1", "\"controls\": 5").find("'controls'") != std::string::npos);
  CHECK(with("\"seed\"", "\"sed\"").find("'options.seed' is missing") != std::string::npos);
}

TEST_CASE("a manifest leads nowhere out of its folder") {
  for (const char* name : {"../a.jsonl", "/etc/passwd", "shards/../../a", ""}) {
    CAPTURE(name);
    CHECK(refusal(test::replaced(manifest().text(), "shards/0001.jsonl", name)).find("within the plan's folder") != std::string::npos);
  }
}

TEST_CASE("a shard that the plan does not have is told with those that it has") {
  CHECK_THROWS_WITH_AS((void)manifest().shard(2), "there is no shard 2: the plan has shards 0 to 1", UsageError);
}

}  // namespace test_fleet_plan
