// Disks that are full beyond a file size, which every process can have, under dispatch and tuning.
#include <doctest/doctest.h>

#include "tests/integration/broken_databases/dispatch.hpp"
#include "tests/integration/fake_gpu/fake_gpu.hpp"
#include "tests/support/conditions.hpp"

namespace test_file_size_limit {

using namespace attune;
using namespace attune::test;
namespace fs = std::filesystem;

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

}  // namespace test_file_size_limit
