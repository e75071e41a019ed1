// Tuning and dispatch where statfs says NFS (tests/support/fake_statfs.cpp).
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "db/database.hpp"
#include "tests/integration/broken_databases/dispatch.hpp"
#include "tests/integration/fake_gpu/fake_gpu.hpp"
#include "tests/support/figures.hpp"

namespace test_network {

using namespace attune;
using namespace attune::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* kNfs = "6969";

/// Bytes 18 and 19 of the header: 1 in a rollback journal's mode, 2 in WAL.
std::string journal_bytes(const fs::path& path) { return read_bytes(path).substr(18, 2); }

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("tuning on a network file system uses no WAL and says so once; what it stored is dispatched without a word") {
  FakeGpu gpu;
  gpu.environment["LD_PRELOAD"] = ATTUNE_FAKE_STATFS_LIBRARY;
  gpu.environment["ATTUNE_TEST_FILE_SYSTEM"] = kNfs;
  gpu.environment["ASAN_OPTIONS"] = "verify_asan_link_order=0";  // of a sanitized build, which wants to be loaded first
  const CommandResult tuning = gpu.attune(gpu.tune_words("none"));
  CHECK(tuning.exit_code == 0);
  const auto notices = times(tuning.err, "network file system (NFS), where WAL does not work");
  CHECK(notices == 1);
  CHECK(journal_bytes(gpu.database) == "\1\1");
  const CommandResult info = gpu.attune({"db", "info"});
  CHECK(info.exit_code == 0);
  CHECK(info.out.find("journal mode delete") != std::string::npos);
  CHECK(info.err.empty());
  CHECK(gpu.records().size() == 48);
  record_figures(7, "tuning_on_nfs", {{"records", gpu.records().size()}, {"notices", notices}});
}

TEST_CASE("dispatch on a network file system reads either journal mode, and makes no file there") {
  const World world;
  ::setenv("ATTUNE_TEST_FILE_SYSTEM", kNfs, 1);
  world.tune(world.database);
  world.give_to_user();
  const Dispatched rollback = world.dispatch(4000);
  CHECK(world.is_exact(rollback.decision, 4000));
  CHECK(rollback.notices.empty());
  fs::remove(world.database);
  ::unsetenv("ATTUNE_TEST_FILE_SYSTEM");
  world.tune_and_die(world.database);
  world.give_to_user();
  const auto before = contents_of(world.data);
  ::setenv("ATTUNE_TEST_FILE_SYSTEM", kNfs, 1);
  const Dispatched in_wal = world.dispatch(4000);
  ::unsetenv("ATTUNE_TEST_FILE_SYSTEM");
  CHECK(world.is_exact(in_wal.decision, 4000));
  REQUIRE(in_wal.notices.size() == 1);
  CHECK(in_wal.notices[0].find("(NFS)") != std::string::npos);
  CHECK(contents_of(world.data) == before);
}

}  // namespace test_network
