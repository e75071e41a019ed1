// Results of a template without a reference: nothing vouches for them, and nothing dispatches them unasked.
#include <doctest/doctest.h>

#include "tests/support/replaced.hpp"
#include "tests/unit/runtime/lookup_fixture.hpp"
#include "tuner/runtime/lookup.hpp"
#include "tuner/runtime/miss.hpp"

namespace test_unverified {

using namespace attune;
using namespace attune::test;

namespace {

const spec::DeviceInfo kHere = device("sm_90", "NVIDIA H200", 132);
const runtime::Wanted kVerified{"cold/graph"}, kAll{"cold/graph", true};

/// The template without its reference, and one result of it.
struct Fixture {
  explicit Fixture(const char* objective = db::kUnverifiedTime) { add(objective, kernel, configuration(64)); }
  void add(const char* objective, const spec::KernelTemplate& of, const std::string& chosen) {
    auto row = best_row(of, twice_problem(1000), kHere, chosen);
    row.objective = objective;
    file.add(row, kHere);
  }
  [[nodiscard]] std::vector<runtime::Layer> layers() const {
    std::vector<runtime::Layer> layers;
    layers.push_back(runtime::open_layer(file.path(), true));
    return layers;
  }
  [[nodiscard]] Decision decide(const spec::KernelTemplate& of, const runtime::Wanted& wanted) const {
    return runtime::choose(of, twice_problem(1000), kHere, layers(), wanted).decision;
  }
  [[nodiscard]] bool misses(const spec::KernelTemplate& of, const runtime::Wanted& wanted) const {
    return runtime::is_miss(of, twice_problem(1000), kHere, layers(), wanted, 4);
  }

  TempFolder folder;
  spec::KernelTemplate kernel = spec::KernelTemplate::parse(
      replaced(kTwiceJson, R"({"launches": [{"kernel": "twice", "grid": 1, "block": 256, "args": ["x", "n", "y"]}]})", R"("none")"),
      {{"twice.cu", kTwiceSource}}, "twice/template.json");
  LayerFile file{folder / "layer.db"};
};

struct Forged : Fixture {
  Forged() : Fixture(db::kTime) {}
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "an unverified result is dispatched where it is asked for, and says what it is") {
  const Decision usual = decide(kernel, kVerified);
  CHECK(usual.tier == Tier::Default);
  CHECK_FALSE(usual.unverified);
  CHECK(misses(kernel, kVerified));
  const Decision asked = decide(kernel, kAll);
  CHECK(asked.tier == Tier::ExactSize);
  CHECK(asked.configuration == configuration(64));
  CHECK(asked.unverified);
  CHECK_FALSE(misses(kernel, kAll));
}

TEST_CASE_FIXTURE(Forged, "a row that claims to be verified is no result of a template that nothing can verify") {
  for (const runtime::Wanted& wanted : {kVerified, kAll}) {
    CHECK(decide(kernel, wanted).tier == Tier::Default);
    CHECK(misses(kernel, wanted));
  }
}

TEST_CASE_FIXTURE(Fixture, "an unverified row is no result of a template that has a reference, whoever asks") {
  const auto verified = twice_template();
  add(db::kUnverifiedTime, verified, configuration(64));
  for (const runtime::Wanted& wanted : {kVerified, kAll}) {
    CHECK(decide(verified, wanted).tier == Tier::Default);
    CHECK(misses(verified, wanted));
  }
}

}  // namespace test_unverified
