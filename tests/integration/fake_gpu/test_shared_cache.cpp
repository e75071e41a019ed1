// A compile cache in which somebody else could have written, under the real command.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/integration/fake_gpu/fake_gpu.hpp"
#include "tuner/base/files.hpp"

namespace test_shared_cache {

using namespace attune::test;
namespace fs = std::filesystem;

namespace {

struct OwnCache : FakeGpu {
  fs::path cubins = folder / "cache" / "attune" / "cubins";

  OwnCache() { environment["XDG_CACHE_HOME"] = (folder / "cache").string(); }
  [[nodiscard]] CommandResult tune_anew() const {
    for (const char* const suffix : {"", "-wal", "-shm", ".lock"}) fs::remove(database + suffix);
    return attune(tune_words("none"));
  }
  [[nodiscard]] std::vector<fs::path> files() const {
    std::vector<fs::path> all;
    for (const auto& entry : fs::recursive_directory_iterator(cubins)) {
      if (entry.path().extension() == ".cubin") all.push_back(entry.path());
    }
    return all;
  }
};

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE_FIXTURE(OwnCache, "a folder of the cache that others may write is not used, told once with its remedy, and tuning goes on") {
  REQUIRE(tune_anew().exit_code == 0);
  const auto stored = files();
  REQUIRE(stored.size() > 1);
  for (const fs::path& shared : {stored[0].parent_path(), stored[0], cubins, cubins.parent_path()}) {
    CAPTURE(shared);
    const bool is_file = fs::is_regular_file(shared);
    REQUIRE(::chmod(shared.c_str(), is_file ? 0666 : 0777) == 0);
    const auto result = tune_anew();
    CAPTURE(result.err);
    CHECK(result.exit_code == 0);
    CHECK(records().size() == 48);
    CHECK(times(result.out + result.err, "chmod go-w '" + shared.string() + "'") == 1);
    REQUIRE(::chmod(shared.c_str(), is_file ? 0600 : 0700) == 0);
    CHECK(times(tune_anew().err, "chmod go-w") == 0);
  }
}

TEST_CASE_FIXTURE(OwnCache, "a cache folder that leads elsewhere by a link gives and takes nothing") {
  REQUIRE(tune_anew().exit_code == 0);
  const auto stored = files();
  const fs::path sub = stored[0].parent_path(), elsewhere = folder / "elsewhere";
  fs::rename(sub, elsewhere);
  fs::create_directory_symlink(elsewhere, sub);
  const std::string before = attune::base::read_file(elsewhere / stored[0].filename());
  const auto time = fs::last_write_time(elsewhere / stored[0].filename());
  const auto result = tune_anew();
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  CHECK(times(result.out + result.err, "'" + sub.string() + "' is a symbolic link; remove it") == 1);
  CHECK(attune::base::read_file(elsewhere / stored[0].filename()) == before);
  CHECK(fs::last_write_time(elsewhere / stored[0].filename()) == time);
}

}  // namespace test_shared_cache
