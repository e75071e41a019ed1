// Full disks under dispatch and tuning: a file size limit, and a small file system where root may mount one.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "db/database.hpp"
#include "tests/integration/broken_databases/dispatch.hpp"
#include "tests/integration/fake_gpu/fake_gpu.hpp"
#include "tests/support/conditions.hpp"
#include "tests/support/figures.hpp"

namespace test_full_disk {

using namespace attune;
using namespace attune::test;
namespace fs = std::filesystem;

namespace {

/// Files that somebody began to write, below a folder.
std::size_t unfinished_files(const fs::path& folder) {
  std::size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".new") || name.ends_with(".tmp")) ++count;
    if (name.ends_with(".cubin") && entry.file_size() < 100) ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("where not one byte can be written dispatch reads the database, compiles, and leaves nothing behind") {
  const World world;
  world.tune_and_die(world.database);
  world.give_to_user();
  const auto before = contents_of(world.data);
  Dispatched tuned, untuned;
  {
    const FileSizeLimit full(0);
    tuned = world.dispatch(4000);
    fs::remove(world.database.string() + "-shm");
    Options other = world.options;
    other.policy = "hot/graph";  // nothing is tuned for it: the default is compiled
    untuned = world.dispatch(4000, other);
  }
  CHECK(tuned.right_result);
  CHECK(world.is_exact(tuned.decision, 4000));
  CHECK(about(tuned.notices, world.database) <= 1);
  CHECK(untuned.right_result);
  CHECK(untuned.decision.tier == Tier::Default);
  CHECK(untuned.decision.cubin_source == "compiled");
  CHECK(unfinished_files(world.cache) == 0);
  auto after = contents_of(world.data);
  for (const char* suffix : {"-shm"}) after.erase(world.database.filename().string() + suffix);
  CHECK(after == before);
}

TEST_CASE("on a file system without a free byte dispatch is right, and tuning fails with a message that says why") {
  const World world;
  const SmallDisk disk(world.data, 4 << 20);
  if (!disk.why_not().empty()) {
    MESSAGE("skipped: no file system can be mounted here: " << disk.why_not());
    return;
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
                  {"unfinished_files", unfinished_files(world.data)}, {"database_sound", check.exit_code == 0}});
}

TEST_CASE("a disk that fills up while tuning ends the run with its reason; what was measured stays, and goes on later") {
  FakeGpu gpu;
  std::size_t stored = 0;
  CommandResult tuning;
  {
    const FileSizeLimit full(120 * 1024);
    tuning = gpu.attune(gpu.tune_words("none"));
  }
  stored = gpu.records().size();
  CHECK(tuning.exit_code == 5);
  CHECK(tuning.err.find("free disk space") != std::string::npos);
  CHECK(gpu.attune({"db", "check"}).exit_code == 0);
  CHECK(unfinished_files(gpu.folder.path()) == 0);
  const CommandResult again = gpu.attune(gpu.tune_words("none"));
  CHECK(again.exit_code == 0);
  CHECK(gpu.records().size() == 48);
  CHECK(stored <= 48);
}

}  // namespace test_full_disk
