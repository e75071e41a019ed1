// The example program with its database removed, read-only, damaged and on a full disk: it computes the right sums.
// Part of test_gpu and, on the fake driver, of integration_example.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "db/database.hpp"
#include "tests/support/best_row.hpp"
#include "tests/support/command.hpp"
#include "tests/support/figures.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/write_bytes.hpp"
#include "tuner/gpu/handles.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace test_broken_databases {

using namespace attune;
using namespace attune::test;

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kTuned = 1000003;
const std::vector<std::string> kSizes{"0", "1", "1000", "1000003"};

/// $ATTUNE_DISPATCH_PROGRAM where the build moved to another machine, else that of this build.
std::string program() {
  const char* const moved = std::getenv("ATTUNE_DISPATCH_PROGRAM");
  return moved != nullptr ? moved : ATTUNE_DISPATCH_PROGRAM;
}

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + word.size())) ++found;
  return found;
}

std::string bytes_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// A database with one tuned size of this device, and the program's environment.
struct Example {
  TempFolder folder;
  fs::path place = folder / "data";
  fs::path database = place / "attune.db";
  std::map<std::string, std::string> environment{{"ATTUNE_DB", database.string()},
                                                 {"ATTUNE_SHIPPED_DB", (folder / "no-shipped.db").string()},
                                                 {"ATTUNE_TEMPLATES", ""},
                                                 {"HOME", (folder / "home").string()},
                                                 {"XDG_DATA_HOME", (folder / "xdg").string()},
                                                 {"XDG_CACHE_HOME", cache().path().string()}};
  std::size_t runs = 0;
  std::size_t sums_not_right = 0;

  Example() {
    fs::create_directory(place);
    const auto device = gpu::read_device(0);
    const auto kernel = spec::TemplateLibrary().find("reduce");
    const spec::Problem problem{{{"T", "f32"}, {"op", "sum"}}, {{"n", kTuned}}};
    auto made = db::Database::open(database, db::OpenMode::ReadWrite);
    made.put(device_row(device));
    made.put(best_row(
        kernel, problem, device,
        R"({"block_size":256,"block_stage":"shuffle","blocks_per_sm":4,"cluster_blocks":1,"exact_n":false,"grid_stage":"two_pass","items":4,"load":"tiles","vector_bytes":16})"));
  }

  /// Compiled code is found again by every run: what compiles is not the question here.
  static const TempFolder& cache() {
    static const TempFolder shared;
    return shared;
  }

  /// Runs the program behind `before`; every sum must be right and nothing may be said on standard error.
  CommandResult run(const std::vector<std::string>& before = {}) {
    std::vector<std::string> words = before;
    words.push_back(program());
    words.insert(words.end(), kSizes.begin(), kSizes.end());
    CommandResult result = test::run(words, environment);
    CAPTURE(result.out);
    CHECK(result.exit_code == 0);
    CHECK(result.err == "");
    CHECK(count(result.out, " right ") == kSizes.size());
    CHECK(count(result.out, "WRONG") == 0);
    ++runs;
    sums_not_right += kSizes.size() - std::min(kSizes.size(), count(result.out, " right "));
    return result;
  }
};

/// Words before a program's that take from the superuser what lets it write anywhere; none for anybody else.
std::vector<std::string> without_privileges() {
  if (::geteuid() != 0) return {};
  const std::vector<std::string> words{"setpriv", "--inh-caps=-all", "--bounding-set=-all"};
  std::vector<std::string> attempt = words;
  attempt.emplace_back("true");
  return test::run(attempt).exit_code == 0 ? words : std::vector<std::string>{};
}

/// Words before a program's under which a small file system at `place` is full, with the database on it. Without the
/// right to mount one, every write to a file fails instead.
std::vector<std::string> on_a_full_disk(const fs::path& place) {
  const std::string script =
      "mount -t tmpfs -o size=1m,mode=700 tmpfs \"$1\" && cp \"$2\" \"$1/attune.db\" && "
      "{ cat /dev/zero > \"$1/rest\" 2> /dev/null; shift 2; exec \"$@\"; }";
  const fs::path original = place.parent_path() / "original.db";
  for (const char* option : {"-m", "-rm"}) {
    std::vector<std::string> words{"unshare", option, "sh", "-c", script, "sh", place.string(), original.string()};
    std::vector<std::string> attempt = words;
    attempt.insert(attempt.end(), {"sh", "-c", "! echo more > \"" + (place / "more").string() + "\""});
    if (test::run(attempt).exit_code == 0) return words;
  }
  MESSAGE("no file system may be mounted here: every write to a file fails instead");
  return {"sh", "-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh"};
}

}  // namespace

TEST_CASE_FIXTURE(Example, "the example sums right with its sound database, and uses it") { CHECK(count(run().out, "exact size") == 1); }

TEST_CASE_FIXTURE(Example, "the example sums right with its database folder removed") {
  fs::remove_all(place);
  CHECK(count(run().out, " default ") == kSizes.size());
  CHECK_FALSE(fs::exists(place));  // dispatch creates nothing
  environment["ATTUNE_DB"] = "";
  environment["XDG_DATA_HOME"] = (folder / "xdg").string();
  CHECK(count(run().out, " default ") == kSizes.size());
  environment["XDG_CACHE_HOME"] = (folder / "new-cache").string();
  run();
}

TEST_CASE_FIXTURE(Example, "the example sums right from a database that it cannot write, and uses it") {
  REQUIRE(::chmod(database.c_str(), 0400) == 0);
  REQUIRE(::chmod(place.c_str(), 0500) == 0);
  CHECK(count(run(without_privileges()).out, "exact size") == 1);
  REQUIRE(::chmod(place.c_str(), 0700) == 0);
}

TEST_CASE_FIXTURE(Example, "the example sums right over a damaged database, however it is damaged") {
  const std::string sound = bytes_of(database);
  std::mt19937 random(4);
  const auto below = [&](std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random); };
  write_bytes(database, "");
  run();
  write_bytes(database, sound.substr(0, sound.size() / 2));
  run();
  write_bytes(database, std::string(sound.size(), '\0'));
  run();
  write_bytes(database, "not a database" + sound.substr(14));
  run();
  fs::remove(database);
  fs::create_directory(database);
  run();
  fs::remove(database);
  const int wanted = full_campaign() ? 200 : 20;
  for (int i = 0; i < wanted; ++i) {
    std::string damaged = sound;
    for (int flip = 0; flip < 50; ++flip) damaged[below(damaged.size())] ^= static_cast<char>(1 << below(8));
    write_bytes(database, damaged);
    run();
  }
  record_figures(
      4, "example_damaged",
      {{"runs", runs}, {"sums", runs * kSizes.size()}, {"sums_not_right", sums_not_right}, {"device", gpu::read_device(0).name}});
}

TEST_CASE_FIXTURE(Example, "the example sums right on a full disk, with and without the space for compiled code") {
  fs::copy_file(database, folder / "original.db");
  const auto full = on_a_full_disk(place);
  run(full);
  environment["XDG_CACHE_HOME"] = (place / "cache").string();
  run(full);
}

}  // namespace test_broken_databases
