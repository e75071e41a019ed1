// What ranks agree on, whoever computes it.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "attune/error.hpp"
#include "tests/unit/runtime/lookup_fixture.hpp"
#include "tests/unit/runtime/ranks_fixture.hpp"
#include "tuner/runtime/agreement_rule.hpp"
#include "tuner/runtime/lookup.hpp"

namespace test_agreement_rule {

using namespace attune;
using namespace attune::test;
using runtime::RankPlan;

namespace {

const spec::DeviceInfo kHopper = device("sm_90", "NVIDIA H200", 132);
const spec::DeviceInfo kAmpere = device("sm_80", "NVIDIA A100", 108);

struct Job {
  spec::KernelTemplate kernel = twice_template();
  spec::Problem problem = twice_problem(1000);
  std::vector<RankPlan> ranks;
  OnMiss on_miss = OnMiss::Default;

  void add(Tier tier, const std::string& configuration, double median_us = 0, std::int64_t donor_n = 1000,
           const spec::DeviceInfo& here = kHopper) {
    const std::string donor = tier == Tier::Default ? "" : spec::to_text(twice_problem(donor_n));
    const double distance = tier == Tier::Default ? runtime::kNoDistance : runtime::size_distance(problem, twice_problem(donor_n));
    ranks.push_back(rank_plan(kernel.content_hash, here, tier, configuration, median_us, donor, distance));
  }
  [[nodiscard]] runtime::AgreedPlan agreed() const { return runtime::agree_on(kernel, problem, ranks, on_miss).value(); }
  [[nodiscard]] std::string failure() const {
    try {
      static_cast<void>(runtime::agree_on(kernel, problem, ranks, on_miss));
    } catch (const AgreementError& error) {
      return error.what();
    }
    return "";
  }
};

}  // namespace

TEST_CASE_FIXTURE(Job, "ranks that propose one configuration take it, whatever they have it from") {
  add(Tier::Default, configuration(256));
  add(Tier::ExactSize, configuration(256), 3.0);
  CHECK(agreed().unanimous);
  CHECK(agreed().configuration == configuration(256));
}

TEST_CASE_FIXTURE(Job, "an earlier tier is taken before a faster result of a later one") {
  add(Tier::NearestSize, configuration(256), 1.0, 900);
  add(Tier::ExactSize, configuration(64), 9.0);
  add(Tier::Default, configuration(256));
  CHECK_FALSE(agreed().unanimous);
  CHECK(agreed().configuration == configuration(64));
  CHECK(agreed().rank == 1);
}

TEST_CASE_FIXTURE(Job, "within a tier the donor nearer in size is taken, then the faster result, then the lower rank") {
  add(Tier::NearestSize, configuration(64, "plain", 1), 1.0, 500);
  add(Tier::NearestSize, configuration(64), 3.0, 900);
  CHECK(agreed().rank == 1);
  add(Tier::NearestSize, configuration(256, "plain", 1), 2.0, 900);
  CHECK(agreed().rank == 2);
  add(Tier::NearestSize, configuration(256), 2.0, 900);
  CHECK(agreed().rank == 2);
  add(Tier::NearestSize, configuration(32), 0, 900);  // a time that is not told is no fast one
  CHECK(agreed().rank == 2);
}

TEST_CASE_FIXTURE(
    Job, "which configuration is agreed on does not depend on the order of ranks, unless nothing but their rank tells them apart") {
  add(Tier::NearestSize, configuration(256, "plain", 1), 1.0, 900);
  add(Tier::ExactSize, configuration(64), 3.0);
  add(Tier::ExactSize, configuration(32), 2.5);
  add(Tier::Default, configuration(256));
  add(Tier::ExactSize, configuration(64), 2.75);
  std::vector<std::size_t> order(ranks.size());
  std::iota(order.begin(), order.end(), 0);
  const auto as_they_were = ranks;
  int orders = 0;
  do {
    for (std::size_t i = 0; i < order.size(); ++i) ranks[i] = as_they_were[order[i]];
    CHECK(agreed().configuration == configuration(32));
    ++orders;
  } while (std::next_permutation(order.begin(), order.end()));
  CHECK(orders == 120);
}

TEST_CASE_FIXTURE(Job, "a proposal that some device of the job cannot take is passed over") {
  auto small = kHopper;
  small.compute_capability = 89;  // style "fancy" is allowed from 90 on
  add(Tier::ExactSize, configuration(64, "fancy"), 1.0);
  add(Tier::NearestSize, configuration(64), 5.0, 900, small);
  CHECK(agreed().configuration == configuration(64));
  CHECK(agreed().rank == 1);
}

TEST_CASE_FIXTURE(Job, "a configuration that is not in the template's space is passed over, whoever proposes it") {
  add(Tier::ExactSize, R"({"block_size":33,"blocks_per_sm":4,"style":"plain"})", 0.1);
  add(Tier::ExactSize, "no configuration", 0.1);
  add(Tier::Default, configuration(256));
  CHECK(agreed().configuration == configuration(256));
  CHECK(agreed().rank == 2);
}

TEST_CASE_FIXTURE(Job, "a configuration is agreed on in its canonical form, however a rank writes it") {
  add(Tier::ExactSize, R"({ "style": "plain", "block_size": 64, "blocks_per_sm": 4 })", 1.0);
  add(Tier::Default, configuration(256));
  CHECK(agreed().configuration == configuration(64));
}

TEST_CASE_FIXTURE(Job, "on several architectures no measured result counts: all take the default that every device can take") {
  add(Tier::ExactSize, configuration(64), 1.0);
  add(Tier::ExactSize, configuration(32), 1.0, 1000, kAmpere);
  CHECK(agreed().configuration == configuration(256));
  CHECK_FALSE(agreed().rank.has_value());
  CHECK(agreed().why_default.find("several architectures") != std::string::npos);
}

TEST_CASE_FIXTURE(Job, "where a miss is an error no default that nobody proposed is taken, and what all propose is taken still") {
  on_miss = OnMiss::Error;
  add(Tier::ExactSize, configuration(64), 1.0);
  add(Tier::ExactSize, configuration(64), 1.0, 1000, kAmpere);
  CHECK(agreed().configuration == configuration(64));
  ranks.pop_back();
  SUBCASE("devices of several architectures") { ranks.push_back({kernel.content_hash, kAmpere, std::nullopt, "nothing was tuned"}); }
  SUBCASE("no proposal can run everywhere") {
    auto small = kHopper;
    small.compute_capability = 89;
    ranks.clear();
    add(Tier::ExactSize, configuration(64, "fancy"), 1.0);
    ranks.push_back({kernel.content_hash, small, std::nullopt, "nothing was tuned"});
  }
  CHECK_THROWS_WITH_AS(static_cast<void>(agreed()), doctest::Contains("kernel 'twice' at {\"T\":\"f32\",\"n\":1000}: "), NotTunedError);
}

TEST_CASE_FIXTURE(Job, "where no default can run either the ranks cannot agree") {
  problem = twice_problem(600000);  // beyond what any configuration is for
  add(Tier::ExactSize, configuration(64), 1.0);
  add(Tier::ExactSize, configuration(256), 1.0);
  CHECK(failure().find("no default, can run on the devices of all ranks") != std::string::npos);
}

TEST_CASE_FIXTURE(Job, "ranks with different contents of a template cannot agree, even on one configuration") {
  add(Tier::ExactSize, configuration(64), 1.0);
  add(Tier::ExactSize, configuration(64), 1.0);
  ranks[1].template_hash = "another";
  const std::string why = failure();
  CHECK(why.find("kernel 'twice' at {\"T\":\"f32\",\"n\":1000}") != std::string::npos);
  CHECK(why.find("rank 1 with content another") != std::string::npos);
}

TEST_CASE_FIXTURE(Job, "a rank without a proposal takes what the others have; where none has one there is nothing to agree on") {
  ranks.push_back({kernel.content_hash, kHopper, std::nullopt, "nothing usable"});
  CHECK_FALSE(runtime::agree_on(kernel, problem, ranks, on_miss).has_value());
  add(Tier::ExactSize, configuration(64), 1.0);
  CHECK(agreed().configuration == configuration(64));
  CHECK_FALSE(agreed().unanimous);
}

}  // namespace test_agreement_rule
