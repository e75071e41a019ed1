// A full disk under dispatch and tuning: a small file system, where root may mount one.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "db/database.hpp"
#include "tests/integration/broken_databases/dispatch.hpp"
#include "tests/integration/fake_gpu/fake_gpu.hpp"
#include "tests/support/conditions.hpp"
#include "tests/support/figures.hpp"
#include "tests/support/skip.hpp"

namespace test_full_disk {

using namespace attune;
using namespace attune::test;
namespace fs = std::filesystem;

TEST_CASE("on a file system without a free byte dispatch is right, and tuning fails with a message that says why") {
  const World world;
  const SmallDisk disk(world.data, 4 << 20);
  if (!disk.why_not().empty()) {
    return skip("no file system can be mounted here: " + disk.why_not());
  }
  world.tune_and_die(world.database);
  const fs::path small_cache = world.data / "cache";
  fs::create_directory(small_cache);
  ::setenv("XDG_CACHE_HOME", small_cache.c_str(), 1);
  disk.fill(world.data / "filler");
  world.give_to_user();

  const Dispatched tuned = world.dispatch(4000);
  CHECK(tuned.right_result);
  CHECK(world.is_exact(tuned.decision, 4000));
  Options other = world.options;
  other.policy = "hot/graph";
  const Dispatched untuned = world.dispatch(4000, other);
  CHECK(untuned.right_result);
  CHECK(untuned.decision.cubin_source == "compiled");
  CHECK(unfinished_files(world.data) == 0);

  FakeGpu gpu;
  gpu.environment["ATTUNE_DB"] = world.database.string();
  const CommandResult tuning = gpu.attune(gpu.tune_words("none"));
  CHECK(tuning.exit_code == 5);
  CHECK(tuning.err.find(world.database.string()) != std::string::npos);
  CHECK(tuning.err.find("free disk space") != std::string::npos);
  CHECK(unfinished_files(world.data) == 0);

  fs::remove(world.data / "filler");
  const CommandResult check = gpu.attune({"db", "check"});
  CHECK(check.exit_code == 0);
  const Dispatched afterwards = world.dispatch(16000);
  CHECK(afterwards.right_result);
  CHECK(world.is_exact(afterwards.decision, 16000));
  record_figures(6, "full_disk_dispatch",
                 {{"launches", 3},
                  {"right", tuned.right_result + untuned.right_result + afterwards.right_result},
                  {"unfinished_files", unfinished_files(world.data)},
                  {"database_sound", check.exit_code == 0}});
}

}  // namespace test_full_disk
