#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "tests/support/temp_folder.hpp"
#include "tests/support/write_bytes.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/hash.hpp"
#include "tuner/compile/cubin_cache.hpp"

namespace test_cubin_cache {

namespace fs = std::filesystem;
using namespace attune::compile;
using attune::base::read_file;
using attune::test::TempFolder;
using attune::test::write_bytes;

namespace {

std::string key_of(int n) { return attune::base::content_key(std::to_string(n)); }

CompileResult result_of(const std::string& key, std::size_t bytes = 10) {
  CompileResult result;
  result.status = CompileStatus::Ok;
  result.key = key;
  result.cubin = std::string(bytes, 'c');
  result.kernels = {{"f", 32, 0, 0, 0, 0}};
  result.log = "warned\n";
  result.compile_ms = 33;
  return result;
}

fs::path path_in(const fs::path& folder, const std::string& key) { return folder / key.substr(0, 2) / (key + ".cubin"); }

void set_used(const fs::path& path, long second) {
  const timespec times[2] = {{second, 0}, {second, 0}};
  REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

}  // namespace

TEST_CASE("what was stored is found, by another cache on the folder as well") {
  const TempFolder folder;
  const std::string key = key_of(1);
  CubinCache cache(folder.path() / "new/folder");
  CHECK(cache.warning().empty());
  CHECK_FALSE(cache.find(key).has_value());
  cache.store(key, result_of(key));
  const auto found = CubinCache(folder.path() / "new/folder").find(key);
  REQUIRE(found.has_value());
  CHECK(found->cubin == "cccccccccc");
  CHECK(found->log == "warned\n");
  CHECK(found->kernels.at(0).registers == 32);
  CHECK(found->from_cache);
  CHECK(found->compile_ms == 0);
  CHECK_FALSE(cache.find(key_of(2)).has_value());
}

TEST_CASE("the folder is private") {
  const TempFolder folder;
  const CubinCache cache(folder.path() / "cache");
  struct stat status {};
  REQUIRE(::stat((folder.path() / "cache").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
}

TEST_CASE("failed compilations are kept, what may go well another time is not") {
  const TempFolder folder;
  CubinCache cache(folder.path());
  CompileResult result = result_of(key_of(1));
  for (const auto status : {CompileStatus::TimedOut, CompileStatus::Crashed}) {
    result.status = status;
    cache.store(key_of(1), result);
    CHECK_FALSE(cache.find(key_of(1)).has_value());
  }
  result.status = CompileStatus::Failed;
  cache.store(key_of(1), result);
  REQUIRE(cache.find(key_of(1)).has_value());
  CHECK(cache.find(key_of(1))->status == CompileStatus::Failed);
}

TEST_CASE("two writers of one key write the same bytes") {
  const TempFolder folder;
  const std::string key = key_of(1);
  CubinCache cache(folder.path());
  CompileResult result = result_of(key);
  cache.store(key, result);
  const std::string first = read_file(path_in(folder.path(), key));
  result.compile_ms = 77;
  cache.store(key, result);
  CHECK(read_file(path_in(folder.path(), key)) == first);
}

TEST_CASE("a damaged file is a miss and is removed") {
  const TempFolder folder;
  const std::string key = key_of(1);
  CubinCache cache(folder.path());
  cache.store(key, result_of(key));
  const fs::path path = path_in(folder.path(), key);
  const std::string good = read_file(path);
  std::string bad = good;
  SUBCASE("a flipped bit in the cubin") { bad[bad.size() / 2] ^= 1; }
  SUBCASE("a flipped bit in the digest") { bad[20] ^= 1; }
  SUBCASE("truncated") { bad.resize(bad.size() - 1); }
  SUBCASE("empty") { bad.clear(); }
  SUBCASE("another format") { bad[0] = 'A'; }
  write_bytes(path, bad);
  CHECK_FALSE(cache.find(key).has_value());
  CHECK_FALSE(fs::exists(path));
  cache.store(key, result_of(key));
  CHECK(cache.find(key).has_value());
}

TEST_CASE("a file under another key is a miss") {
  const TempFolder folder;
  CubinCache cache(folder.path());
  cache.store(key_of(1), result_of(key_of(1)));
  cache.store(key_of(2), result_of(key_of(2)));
  fs::copy_file(path_in(folder.path(), key_of(1)), path_in(folder.path(), key_of(2)), fs::copy_options::overwrite_existing);
  CHECK_FALSE(cache.find(key_of(2)).has_value());
}

TEST_CASE("an entry that cannot be read is a miss") {
  const TempFolder folder;
  const CubinCache cache(folder.path());
  fs::create_directories(path_in(folder.path(), key_of(1)));  // reading a folder fails
  CHECK_FALSE(cache.find(key_of(1)).has_value());
}

TEST_CASE("a folder that cannot be written still answers, and says so") {
  const TempFolder folder;
  const std::string key = key_of(1);
  CubinCache cache(folder.path());
  cache.store(key, result_of(key));
  const std::string other = key_of(2);
  REQUIRE(other.substr(0, 2) != key.substr(0, 2));
  write_bytes(folder.path() / other.substr(0, 2), "in the way");
  cache.store(other, result_of(other));
  CHECK(cache.warning().find("is not written to any more") != std::string::npos);
  CHECK(cache.warning().find(folder.path().string()) != std::string::npos);
  CHECK(cache.find(key).has_value());
  const std::string third = key_of(3);
  cache.store(third, result_of(third));  // it does not try again
  CHECK_FALSE(cache.find(third).has_value());
}

TEST_CASE("a folder that cannot be made is a cache without entries") {
  const TempFolder folder;
  write_bytes(folder.path() / "file", "");
  CubinCache cache(folder.path() / "file/cache");
  CHECK(cache.warning().find("ENOTDIR") != std::string::npos);
  cache.store(key_of(1), result_of(key_of(1)));
  CHECK_FALSE(cache.find(key_of(1)).has_value());
  CHECK(cache.trim() == 0);
}

TEST_CASE("trimming removes what was not used for longest, and nothing that is not ours") {
  const TempFolder folder;
  CubinCache large(folder.path());
  for (int i = 0; i < 4; ++i) large.store(key_of(i), result_of(key_of(i), 1000));
  for (int i = 0; i < 4; ++i) set_used(path_in(folder.path(), key_of(i)), 1000 + i);
  fs::create_directories(folder.path() / "notes");
  write_bytes(folder.path() / "notes/mine.cubin", std::string(5000, 'x'));
  write_bytes(path_in(folder.path(), key_of(0)).parent_path() / "readme.txt", std::string(5000, 'x'));
  CHECK(large.trim() == 0);
  REQUIRE(large.find(key_of(0)).has_value());  // used again: now the latest
  const auto size = fs::file_size(path_in(folder.path(), key_of(1)));
  CubinCache small(folder.path(), 2 * size);
  CHECK(small.trim() == 2 * size);
  CHECK(small.find(key_of(0)).has_value());
  CHECK_FALSE(small.find(key_of(1)).has_value());
  CHECK_FALSE(small.find(key_of(2)).has_value());
  CHECK(small.find(key_of(3)).has_value());
  CHECK(fs::exists(folder.path() / "notes/mine.cubin"));
  CHECK(fs::exists(path_in(folder.path(), key_of(0)).parent_path() / "readme.txt"));
}

TEST_CASE("storing keeps the folder near its limit by itself") {
  const TempFolder folder;
  constexpr std::uint64_t kLimit = 20000;
  CubinCache cache(folder.path(), kLimit);
  for (int i = 0; i < 50; ++i) cache.store(key_of(i), result_of(key_of(i), 1000));
  std::uint64_t total = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
    if (entry.is_regular_file()) total += entry.file_size();
  }
  CHECK(total <= kLimit + kLimit / 16);
  CHECK(total > kLimit / 2);
  CHECK(cache.find(key_of(49)).has_value());
}

// What runs as code: nothing that others could have written is found, wherever on the way it is.

TEST_CASE(
    "where others may write a folder on the way, the cache, one of its folders or a file, nothing is found, and the path is told once") {
  const std::string key = key_of(1), second = key_of(2);
  for (const char* const which : {"home", "home/cache", "home/cache/cubins", "folder", "file"}) {
    for (const mode_t bits : {0020, 0002, 0022}) {
      const TempFolder root;
      const fs::path folder = root / "home/cache/cubins";
      const fs::path file = path_in(folder, key);
      CubinCache cache(folder);
      cache.store(key, result_of(key));
      cache.store(second, result_of(second));
      REQUIRE(cache.find(key).has_value());
      const fs::path shared = which == std::string("file") ? file : which == std::string("folder") ? file.parent_path() : root / which;
      CAPTURE(shared);
      REQUIRE(::chmod(shared.c_str(), 0700 | bits) == 0);
      CubinCache fresh(folder);
      for (CubinCache* each : {&cache, &fresh}) {
        CHECK_FALSE(each->find(key).has_value());
        CHECK_FALSE(each->find(key).has_value());
        CHECK(each->refused());
        CHECK(each->warning().find("is not used: ") != std::string::npos);
        CHECK(each->warning().find("'" + shared.string() + "' can be written by others") != std::string::npos);
        CHECK(each->warning().find("chmod go-w '" + shared.string() + "'") != std::string::npos);
      }
      const bool only_one_key = which == std::string("file") || which == std::string("folder");
      CHECK(fresh.find(second).has_value() == only_one_key);  // the rest of the cache serves
      CHECK(fs::exists(file));                                // it is the user's to look at
    }
  }
}

TEST_CASE("a file that others may write is replaced by one that they may not, a folder is not stored into") {
  const TempFolder root;
  const std::string key = key_of(1);
  CubinCache cache(root / "cubins");
  cache.store(key, result_of(key));
  const fs::path file = path_in(root / "cubins", key);
  REQUIRE(::chmod(file.c_str(), 0666) == 0);
  CHECK_FALSE(cache.find(key).has_value());
  cache.store(key, result_of(key));
  CHECK(cache.find(key).has_value());
  struct stat status {};
  REQUIRE(::stat(file.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  REQUIRE(::chmod(file.parent_path().c_str(), 0777) == 0);
  fs::remove(file);
  cache.store(key, result_of(key));
  CHECK_FALSE(fs::exists(file));
}

TEST_CASE("no link of a cache is followed: neither a folder's, nor a file's, for reading, storing, marking or trimming") {
  const TempFolder root;
  const std::string key = key_of(1);
  CubinCache planted(root / "planted");
  planted.store(key, result_of(key));
  const fs::path elsewhere = path_in(root / "planted", key);
  set_used(elsewhere, 1000);
  {
    CubinCache cache(root / "files", 1);
    fs::create_directories(path_in(root / "files", key).parent_path());
    fs::permissions(path_in(root / "files", key).parent_path(), fs::perms(0700));
    fs::create_symlink(elsewhere, path_in(root / "files", key));
    CHECK_FALSE(cache.find(key).has_value());
    CHECK(cache.warning().find("is a symbolic link; remove it") != std::string::npos);
    CHECK(cache.trim() == 0);
    cache.store(key, result_of(key, 20));
  }
  {
    CubinCache cache(root / "folders", 1);
    fs::create_directory_symlink(elsewhere.parent_path(), path_in(root / "folders", key).parent_path());
    CHECK_FALSE(cache.find(key).has_value());
    CHECK(cache.warning().find("is a symbolic link; remove it") != std::string::npos);
    CHECK(cache.trim() == 0);
    cache.store(key, result_of(key, 20));
  }
  struct stat status {};
  REQUIRE(::stat(elsewhere.c_str(), &status) == 0);
  CHECK(status.st_mtim.tv_sec == 1000);
  CHECK(planted.find(key)->cubin == "cccccccccc");
}

TEST_CASE("a pipe or a hard link in the place of a file is a miss that nobody waits for") {
  const TempFolder root;
  const std::string key = key_of(1);
  CubinCache cache(root / "cubins");
  cache.store(key, result_of(key));
  const fs::path file = path_in(root / "cubins", key);
  fs::create_hard_link(file, root / "second");
  CHECK_FALSE(cache.find(key).has_value());
  fs::remove(file);
  REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
  CHECK_FALSE(cache.find(key).has_value());
  cache.store(key, result_of(key));
  CHECK(cache.find(key).has_value());
}

}  // namespace test_cubin_cache
