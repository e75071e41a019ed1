// A program that tunes on the GPU what it misses (Options::on_miss).
#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/gpu/runtime_fixture.hpp"

namespace test_on_miss {

using namespace attune;
using namespace attune::test;

namespace {

/// No databases yet; the worker that the other GPU tests use.
struct Miss : RuntimeFixture {
  static Options options(OnMiss on_miss) {
    Options options;
    options.on_miss = on_miss;
    const char* const given = std::getenv("ATTUNE_WORKER");
    options.worker = given != nullptr ? given : ATTUNE_WORKER_EXECUTABLE;
    options.tuning_budget_s = 2;
    options.tuning_share = 1;
    return options;
  }
};

}  // namespace

TEST_CASE_FIXTURE(Miss, "what is missed is tuned before the launch, and the next process finds it") {
  const Input input(kLarge);
  std::string tuned;
  {
    Runtime runtime(options(OnMiss::TuneNow));
    const auto sum = runtime.reduce<float>(Op::Sum);
    sum(input.in(), kLarge, input.out(), nullptr);
    CHECK(input.result() == input.expected());
    CHECK(sum.explain(kLarge).tier == Tier::ExactSize);
    CHECK(runtime.counters().tunings_finished == 1);
    CHECK(runtime.counters().tunings_failed == 0);
    tuned = sum.explain(kLarge).configuration;
  }
  Runtime again(options(OnMiss::TuneNow));
  const auto sum = again.reduce<float>(Op::Sum);
  input.poison();
  sum(input.in(), kLarge, input.out(), nullptr);
  CHECK(input.result() == input.expected());
  CHECK(sum.explain(kLarge).configuration == tuned);
  CHECK(again.counters().tunings_started == 0);
  CHECK(again.counters().compiles == 0);
}

TEST_CASE_FIXTURE(Miss, "tuning in the background lets launches go on, right before and after the plan changes") {
  const Input input(kLarge);
  Runtime runtime(options(OnMiss::TuneInBackground));
  const auto sum = runtime.reduce<float>(Op::Sum);
  sum(input.in(), kLarge, input.out(), nullptr);
  CHECK(input.result() == input.expected());
  CHECK(sum.explain(kLarge).tier == Tier::Default);
  bool right = true;
  while (!runtime.wait_for_tuning(0.01)) {
    input.poison();
    sum(input.in(), kLarge, input.out(), nullptr);
    right = right && input.result() == input.expected();
  }
  CHECK(right);
  for (const auto& notice : runtime.notices()) MESSAGE(notice);
  CHECK(runtime.counters().tunings_finished == 1);
  CHECK(sum.explain(kLarge).tier == Tier::ExactSize);
  input.poison();
  sum(input.in(), kLarge, input.out(), nullptr);
  CHECK(input.result() == input.expected());
}

}  // namespace test_on_miss
