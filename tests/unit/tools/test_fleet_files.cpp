// Files of a plan's folder, which others may have replaced by anything.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "attune/error.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/write_bytes.hpp"
#include "tools/fleet/plan_files.hpp"
#include "tools/fleet/run_notes.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/hash.hpp"

namespace test_fleet_files {

using namespace attune;
namespace fs = std::filesystem;

namespace {

/// What the call is refused with.
std::string why(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "taken";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct Notes {
  test::TempFolder folder;
  fs::path path = folder / "shard-0000.runs.jsonl";
  fs::path others = folder / "others";
};

}  // namespace

TEST_CASE_FIXTURE(Notes, "tasks note a line each, and a line that a killed task left torn spoils neither the next nor the reading") {
  CHECK(tools::read_runs(path).empty());
  tools::note_run(path, {{"host", "a"}});
  std::ofstream(path, std::ios::app) << "{\"host\": \"to";
  CHECK(tools::read_runs(path).size() == 1);
  tools::note_run(path, {{"host", "b"}});
  tools::note_run(path, {{"host", "c"}});
  const auto runs = tools::read_runs(path);
  REQUIRE(runs.size() == 3);
  CHECK(runs[1]["host"] == "b");
  CHECK(runs[2]["host"] == "c");
}

TEST_CASE_FIXTURE(Notes, "a link or a pipe in the place of notes is refused with what to do, and what a link leads to stays as it is") {
  test::write_bytes(others, "somebody's");
  fs::create_symlink(others, path);
  CHECK(has(why([&] { tools::note_run(path, {}); }), "it is a link"));
  fs::remove(path);
  fs::create_symlink(folder / "nothing", path);
  CHECK(has(why([&] { tools::note_run(path, {}); }), "remove it"));
  CHECK_FALSE(fs::exists(folder / "nothing"));
  fs::remove(path);
  fs::create_hard_link(others, path);
  CHECK(has(why([&] { tools::note_run(path, {}); }), "hard links"));
  fs::remove(path);
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  CHECK(has(why([&] { tools::note_run(path, {}); }), "no regular file"));
  CHECK(has(why([&] { (void)tools::read_runs(path); }), "no regular file"));
  CHECK(base::read_file(others) == "somebody's");
}

TEST_CASE_FIXTURE(Notes, "of many tasks the last 256 are told") {
  for (int i = 0; i < 300; ++i) tools::note_run(path, {{"host", std::to_string(i)}});
  const auto runs = tools::read_runs(path);
  REQUIRE(runs.size() == 256);
  CHECK(runs.front()["host"] == "44");
  CHECK(runs.back()["host"] == "299");
}

TEST_CASE_FIXTURE(Notes, "notes that are too long to be any are not read") {
  test::write_bytes(path, "");
  fs::resize_file(path, std::uint64_t{1} << 40);
  CHECK(has(why([&] { (void)tools::read_runs(path); }), "more than 16 MiB"));
}

TEST_CASE_FIXTURE(Notes, "a copy takes the place of a file and keeps its mode; a link is not followed, and stays") {
  const fs::path from = folder / "from", to = folder / "to";
  test::write_bytes(from, std::string(3'000'000, 'x'));
  tools::copy_whole(from, to);
  CHECK(tools::key_of_file(to) == base::content_key(base::read_file(from)));
  REQUIRE(::chmod(to.c_str(), 0640) == 0);
  tools::copy_whole(from, to);
  CHECK(fs::status(to).permissions() == fs::perms(0640));
  test::write_bytes(others, "somebody's");
  fs::remove(to);
  fs::create_symlink(others, to);
  CHECK(has(why([&] { tools::copy_whole(from, to); }), "stays as it is"));
  CHECK(fs::is_symlink(to));
  CHECK(base::read_file(others) == "somebody's");
}

TEST_CASE_FIXTURE(
    Notes, "what has no end is not read: a pipe, a device, a shard's problems of a terabyte; and a shard's file that is gone is told") {
  const tools::ShardEntry entry{"0.jsonl", base::content_key("{}\n"), 1, 1};
  const fs::path file = folder / "0.jsonl";
  const auto reading = [&] { return why([&] { (void)tools::read_shard_problems(folder.path(), entry); }); };
  CHECK(has(reading(), "the same `attune fleet plan` writes it again"));
  test::write_bytes(file, "{}\n");
  CHECK(tools::read_shard_problems(folder.path(), entry) == "{}\n");
  test::write_bytes(file, "{} \n");
  CHECK(has(reading(), "not the one that the manifest names"));
  fs::resize_file(file, std::uint64_t{1} << 40);
  CHECK(has(reading(), "more than 256 MiB"));
  fs::remove(file);
  fs::create_symlink("/dev/zero", file);
  CHECK(has(reading(), "no regular file"));
  CHECK(has(why([&] { tools::copy_whole(file, folder / "copy"); }), "no regular file"));
  fs::remove(file);
  REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
  CHECK(has(reading(), "no regular file"));
  CHECK(has(why([&] { (void)tools::key_of_file(file); }), "no regular file"));
  CHECK_FALSE(fs::exists(folder / "copy"));
  const fs::path manifest = folder / "manifest.json";
  test::write_bytes(manifest, "");
  fs::resize_file(manifest, std::uint64_t{1} << 40);
  CHECK(has(why([&] { (void)tools::Manifest::load(folder.path()); }), "more than 64 MiB"));
}

}  // namespace test_fleet_files
