#include <doctest/doctest.h>

#include "tests/unit/runtime/lookup_fixture.hpp"
#include "tuner/runtime/miss.hpp"

namespace test_miss {

using namespace attune;
using namespace attune::test;
using runtime::is_miss;

namespace {

const spec::DeviceInfo kHere = device("sm_90", "NVIDIA H200", 132);

/// One layer, to be filled before `miss` asks it.
struct Fixture {
  TempFolder folder;
  spec::KernelTemplate kernel = twice_template();
  LayerFile file{folder / "layer.db"};

  [[nodiscard]] bool miss(std::int64_t n, double reach = 4) {
    std::vector<runtime::Layer> layers;
    layers.push_back(runtime::open_layer(file.path(), true));
    return is_miss(kernel, twice_problem(n), kHere, layers, {"cold/graph"}, reach);
  }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "sizes up to the reach away from a tuned one are no miss, larger and smaller, and one more is") {
  file.add(kernel, 1000, kHere, configuration(64));
  CHECK_FALSE(miss(1000));
  CHECK_FALSE(miss(4000));
  CHECK(miss(4001));
  CHECK_FALSE(miss(250));
  CHECK(miss(249));
  CHECK(miss(1001, 1));
  CHECK_FALSE(miss(1000, 1));
}

TEST_CASE_FIXTURE(Fixture, "what another device, policy or objective was tuned for is a miss here") {
  file.add(kernel, 1000, device("sm_90", "NVIDIA H100", 114), configuration(64));
  auto row = best_row(kernel, twice_problem(1000), kHere, configuration(64));
  row.policy = "hot/graph";
  file.add(row, kHere);
  row.policy = "cold/graph";
  row.objective = "energy";
  file.add(row, kHere);
  CHECK(miss(1000));
}

TEST_CASE_FIXTURE(Fixture, "a near result whose configuration is not usable at the asked size is a miss") {
  file.add(kernel, 4000, kHere, configuration(32));  // block_size 32 ends at 4096
  CHECK_FALSE(miss(4096));
  CHECK(miss(4097));
  file.add(kernel, 4001, kHere, R"({"block_size":33,"blocks_per_sm":4,"style":"plain"})");
  CHECK(miss(4097));
  file.add(kernel, 4002, kHere, configuration(64));
  CHECK_FALSE(miss(4097));
}

TEST_CASE_FIXTURE(Fixture, "a size of zero is no miss, and a row for zero is near to nothing else") {
  CHECK_FALSE(miss(0));
  file.add(kernel, 0, kHere, configuration(64));
  CHECK(miss(1));
}

TEST_CASE("without layers everything is a miss") { CHECK(is_miss(twice_template(), twice_problem(1), kHere, {}, {"cold/graph"}, 1e9)); }

TEST_CASE("the command that tunes a problem names template, axes, policy, folders and database, quoted for a shell") {
  Options options;
  CHECK(runtime::tune_command("twice", twice_problem(1000), options) == "attune tune twice --T f32 --n 1000");
  options.policy = "hot/stream";
  options.templates = {"/home/me/my templates"};
  options.databases = {"/data/it's.db", "/data/other.db"};
  CHECK(runtime::tune_command("twice", twice_problem(7), options) ==
        "attune tune twice --T f32 --n 7 --policy hot/stream --template-folder '/home/me/my templates' "
        "--db '/data/it'\\''s.db'");
}

}  // namespace test_miss
