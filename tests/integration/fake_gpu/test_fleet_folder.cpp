// The folder of a plan lies open to others and to chance: files in it may be missing, removed, replaced by links, or vanish at any time.
#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "tests/integration/fake_gpu/fleet_fixture.hpp"
#include "tests/support/conditions.hpp"
#include "tests/support/write_bytes.hpp"
#include "tuner/base/files.hpp"

namespace test_fleet_folder {

using namespace attune;
using nlohmann::json;
using test::FleetWorld;
using test::mentions;
namespace fs = std::filesystem;

namespace {

struct FolderWorld : FleetWorld {
  /// Names in the node's folders of plans, without locks, which are empty, and without what was set aside.
  [[nodiscard]] std::vector<std::string> scratch_files(const std::string& of_node) const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(node(of_node))) {
      const std::string name = entry.path().filename().string();
      if (entry.is_regular_file() && name.starts_with("shard-") && !name.ends_with("0.lock") && !mentions(name, ".removed-"))
        names.push_back(name);
    }
    return names;
  }
  /// The words of plan_words with another value behind one of them.
  [[nodiscard]] std::vector<std::string> plan_with(const std::string& option, const std::string& value,
                                                   const std::vector<std::string>& more = {}) const {
    auto words = plan_words(more);
    *(std::find(words.begin(), words.end(), option) + 1) = value;
    return words;
  }
  [[nodiscard]] fs::path planned(const std::string& name) const { return fs::path(plan) / name; }
};

/// Its checksum is right, and its detail is not in the canonical form.
void put_odd_row(const fs::path& path) {
  auto database = db::Database::open(path, db::OpenMode::ReadWrite);
  auto row = database.records({}).front();
  row.detail_json.insert(1, " ");
  row.recorded_at = "2099-01-01T00:00:00Z";
  database.put(row);
}

/// Whether a process has the file open.
bool has_open(int pid, const fs::path& file) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc/" + std::to_string(pid) + "/fd", ignored)) {
    if (fs::read_symlink(entry.path(), ignored) == file) return true;
  }
  return false;
}

/// What is started meanwhile has so few descriptors that a merge checks one shard ahead.
struct FewDescriptors {
  FewDescriptors() {
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    const rlimit few{36, before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
  }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;
  ~FewDescriptors() { static_cast<void>(::setrlimit(RLIMIT_NOFILE, &before)); }
  rlimit before{};
};

}  // namespace

TEST_CASE_FIXTURE(FolderWorld, "links in the place of results lead no task to somebody else's file, and what was measured is not lost") {
  make_plan();
  const fs::path others = folder / "others";
  test::write_bytes(others, "somebody's");
  fs::create_symlink(others, result(0, ".runs.jsonl"));
  const auto refused = attune(run_words(0));
  CHECK(refused.exit_code == 4);
  CHECK(mentions(refused.err, "shard-0000.runs.jsonl: it is a link"));
  CHECK_FALSE(mentions(refused.out, "configurations measured"));
  fs::remove(result(0, ".runs.jsonl"));
  fs::create_symlink(folder / "nothing", result(0, ".db"));
  const auto set_aside = attune(run_words(0));
  CHECK(set_aside.exit_code == 0);
  CHECK(mentions(set_aside.err, "it is no regular file"));
  CHECK_FALSE(fs::exists(folder / "nothing"));
  CHECK(fs::is_regular_file(fs::symlink_status(result(0, ".db"))));
  CHECK(records_in(result(0, ".db")) == 3 * kSpace);
  fs::create_symlink(others, result(1, ".part.db"));
  run_shard(1);
  CHECK(is_there(1, ".db"));
  CHECK(base::read_file(others) == "somebody's");
}

TEST_CASE_FIXTURE(FolderWorld, "results that no merge would take finish no shard: they are set aside, told, and measured again") {
  make_plan();
  run_shard(0);
  SUBCASE("an empty file in the place of the whole") { test::write_bytes(result(0, ".db"), ""); }
  SUBCASE("a whole with a row that is not as attune writes it") { put_odd_row(result(0, ".db")); }
  SUBCASE("a part with such a row") {
    put_odd_row(result(0, ".db"));
    fs::rename(result(0, ".db"), result(0, ".part.db"));
  }
  const auto again = attune(run_words(0, {"--json"}));
  CHECK(again.exit_code == 0);
  CHECK(mentions(again.err, ".damaged-"));
  CHECK(measured_by(again) == 3 * kSpace);
  CHECK(records_in(result(0, ".db")) == 3 * kSpace);
  CHECK(merge((folder / "all.db").string())["shards"][0]["state"] == "finished");
}

TEST_CASE_FIXTURE(FolderWorld, "results whose bytes cannot be had are left as they are: that says nothing of what they hold") {
  make_plan();
  run_shard(0);
  const std::string whole = base::read_file(result(0, ".db"));
  for (const auto& opened : {fs::path(folder.path()), fs::path(plan), fs::path(plan) / "results"}) fs::permissions(opened, fs::perms::all);
  fs::permissions(result(0, ".db"), fs::perms::none);
  const auto again = [&] {
    const test::Unprivileged user;
    return attune(run_words(0));
  }();
  fs::permissions(result(0, ".db"), fs::perms::owner_read | fs::perms::owner_write);
  CAPTURE(again.err);
  CHECK(again.exit_code == 5);
  CHECK(mentions(again.err, result(0, ".db").string()));
  CHECK_FALSE(is_there(0, ".part.db"));
  CHECK(base::read_file(result(0, ".db")) == whole);
}

TEST_CASE_FIXTURE(FolderWorld, "results of a later attune are left as they are, and told, by tasks and by merges") {
  make_plan();
  run_shard(0);
  run_shard(1);
  {
    SQLite::Database later(result(0, ".db").string(), SQLite::OPEN_READWRITE);
    later.exec("PRAGMA user_version = 99");
  }
  const std::string whole = base::read_file(result(0, ".db"));
  const auto again = attune(run_words(0));
  CHECK(again.exit_code == 5);
  CHECK(mentions(again.err, "update attune"));
  CHECK_FALSE(mentions(again.err, ".damaged-"));
  CHECK(base::read_file(result(0, ".db")) == whole);
  const auto merged = attune({"fleet", "merge", plan, "--db", (folder / "all.db").string()});
  CHECK(mentions(merged.out, "cannot be read: shard 0"));
  CHECK(mentions(merged.out, "it stays as it is: merge again"));
  CHECK_FALSE(mentions(merged.out, "remove its file"));
  const json told = merge((folder / "told.db").string());
  CHECK(told["shards"][0]["may_pass"] == true);
  CHECK(told["shards"][1]["may_pass"].is_null());
}

TEST_CASE_FIXTURE(FolderWorld, "a time between copies that is none is refused before anything is written") {
  make_plan();
  for (const std::string every : {"abc", "-5s", "0", "1e9s", ""}) {
    CAPTURE(every);
    CHECK(attune(run_words(0, {"--publish-every", every})).exit_code == 2);
    std::error_code none;
    CHECK((!fs::exists(fs::path(plan) / "results", none) || fs::is_empty(fs::path(plan) / "results")));
  }
}

TEST_CASE_FIXTURE(FolderWorld, "with few descriptors few shards are open at a time, and all are merged") {
  make_plan();
  for (int shard = 0; shard < 3; ++shard) run_shard(shard);
  const fs::path target = folder / "all.db";
  (void)merge(target.string());
  int pid = 0;
  {
    auto held = db::Database::open(target, db::OpenMode::ReadWrite);
    const db::Database::Batch batch(held);  // nothing is stored meanwhile
    {
      const FewDescriptors few;
      pid = start({"fleet", "merge", plan, "--db", target.string(), "--json"});
    }
    REQUIRE(test::wait_until([&] { return has_open(pid, result(1, ".db")); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // what is looked at far ahead is looked at within a few
    CHECK_FALSE(has_open(pid, result(2, ".db")));
  }
  CHECK(test::wait_for(pid) == 0);
  const json told = base::parse_json(base::read_file(output()));
  for (const auto& shard : told["shards"]) CHECK(shard["state"] == "finished");
}

TEST_CASE_FIXTURE(FolderWorld, "a shard whose results vanish while the fleet is merged costs itself alone, and is named") {
  make_plan();
  for (int shard = 0; shard < 3; ++shard) run_shard(shard);
  fs::rename(result(2, ".db"), result(2, ".part.db"));  // a part is looked for under its other name too
  const fs::path target = folder / "all.db";
  (void)merge(target.string());
  int pid = 0;
  {
    auto held = db::Database::open(target, db::OpenMode::ReadWrite);
    std::optional<db::Database::Batch> batch(held);
    {
      const FewDescriptors few;  // so that the last shard is not looked at before the first is stored
      pid = start({"fleet", "merge", plan, "--db", target.string(), "--json"});
    }
    REQUIRE(test::wait_until([&] { return has_open(pid, target); }));
    fs::remove(result(2, ".part.db"));
    batch.reset();
  }
  CHECK(test::wait_for(pid) == 0);
  const json report = base::parse_json(base::read_file(output()));
  CHECK(report["shards"][0]["state"] == "finished");
  CHECK(report["shards"][1]["state"] == "finished");
  CHECK(report["shards"][2]["state"] == "unreadable");
  CHECK(mentions(report["shards"][2]["why"].get<std::string>(), "shard-0002.part.db"));
}

TEST_CASE_FIXTURE(FolderWorld, "notes and a shard's problems that cannot be read end no merge, and are named") {
  make_plan();
  for (int shard = 0; shard < 2; ++shard) run_shard(shard);
  fs::remove(result(0, ".runs.jsonl"));
  REQUIRE(::mkfifo(result(0, ".runs.jsonl").c_str(), 0600) == 0);
  fs::remove(planned("shards/0000.jsonl"));
  const auto merged = attune({"fleet", "merge", plan, "--db", (folder / "all.db").string(), "--json"});
  CHECK(merged.exit_code == 0);
  CHECK(mentions(merged.err, "shard-0000.runs.jsonl"));
  const json report = base::parse_json(merged.out);
  CHECK(report["shards"][0]["state"] == "finished");
  CHECK(report["shards"][0]["runs"].empty());
  CHECK(report["shards"][1]["runs"].size() == 1);
  CHECK(report["shards"][0]["controls"][0]["compared"] == kSpace);  // another shard's file names the control problems too
  for (int shard = 1; shard < 3; ++shard) fs::remove(planned("shards/000" + std::to_string(shard) + ".jsonl"));
  const auto uncompared = attune({"fleet", "merge", plan, "--db", (folder / "all.db").string()});
  CHECK(uncompared.exit_code == 0);
  CHECK(mentions(uncompared.err, "devices are not compared"));
}

TEST_CASE_FIXTURE(FolderWorld,
                  "a shard whose files were removed is measured again, also on the node that still has what it measured before") {
  make_plan();
  const std::size_t before = run_and_kill(0);
  REQUIRE(before > 0);
  for (const char* suffix : {".part.db", ".runs.jsonl"}) fs::remove(result(0, suffix));
  const auto run = attune(run_words(0, {"--json"}));
  CHECK(run.exit_code == 0);
  CHECK(mentions(run.err, "were removed from the plan's folder, so it is measured again"));
  CHECK(measured_by(run) == 3 * kSpace);
  std::vector<fs::path> aside;
  for (const auto& entry : fs::recursive_directory_iterator(node("a"))) {
    const std::string name = entry.path().filename().string();
    if (mentions(name, ".db.removed-") && name.ends_with("Z")) aside.push_back(entry.path());
  }
  REQUIRE(aside.size() == 1);
  CHECK(records_in(aside.front()) >= before);
}

TEST_CASE_FIXTURE(FolderWorld, "a shard is measured again where only its copy was removed, and goes on where nothing was published yet") {
  make_plan();
  slow();
  const int first = start(run_words(0));
  REQUIRE(test::wait_until([&] {
    const auto files = scratch_files("a");
    return std::find(files.begin(), files.end(), "shard-0000.published") != files.end();
  }));
  ::kill(first, SIGKILL);
  CHECK(test::wait_for(first) == 128 + SIGKILL);
  fast();
  fs::remove(result(0, ".part.db"));
  const auto again = attune(run_words(0, {"--json"}));
  CHECK(again.exit_code == 0);
  CHECK(measured_by(again) == 3 * kSpace);
  slow();
  const int pid = start(run_words(1));
  REQUIRE(test::wait_until([&] {
    for (const auto& entry : fs::recursive_directory_iterator(node("a"))) {
      try {
        if (entry.path().filename() == "shard-0001.db" && records_in(entry.path()) > 3) return true;
      } catch (const Error&) {
        return false;  // it is being made
      }
    }
    return false;
  }));
  ::kill(pid, SIGKILL);
  CHECK(test::wait_for(pid) == 128 + SIGKILL);
  fast();
  if (is_there(1, ".part.db")) return;  // it was faster than this test
  const auto run = attune(run_words(1, {"--json"}));
  CHECK(run.exit_code == 0);
  CHECK(measured_by(run) < 3 * kSpace);
}

TEST_CASE_FIXTURE(FolderWorld, "a node keeps nothing of a shard that was finished elsewhere once it hears of it") {
  make_plan();
  REQUIRE(run_and_kill(0) > 0);
  CHECK_FALSE(scratch_files("a").empty());
  environment["TMPDIR"] = node("b");
  run_shard(0);
  CHECK(scratch_files("b").empty());
  environment["TMPDIR"] = node("a");
  const auto again = attune(run_words(0));
  CHECK(again.exit_code == 0);
  CHECK(mentions(again.out, "was finished before"));
  CHECK(scratch_files("a").empty());
}

TEST_CASE_FIXTURE(FolderWorld, "a shard that would have control problems alone is refused with the numbers that fit") {
  const auto refused = attune(plan_with("--shards", "6"));
  CHECK(refused.exit_code == 2);
  CHECK(mentions(refused.err, "give --shards 5 or less, or --overlap 0"));
  CHECK(attune(plan_with("--shards", "6", {"--overlap", "6"})).exit_code == 2);
  CHECK_FALSE(fs::exists(planned("manifest.json")));
  CHECK(attune(plan_with("--shards", "6", {"--overlap", "0"})).exit_code == 0);
  for (int shard = 0; shard < 6; ++shard) CHECK(lines_in(planned("shards/000" + std::to_string(shard) + ".jsonl")).size() == 1);
}

TEST_CASE_FIXTURE(FolderWorld, "a budget that a shard's problems together do not have is refused when it is planned") {
  const auto refused = attune(plan_words({"--budget", "500000000s"}));
  CHECK(refused.exit_code == 2);
  CHECK(mentions(refused.err, "longer than a command may take"));
  CHECK_FALSE(fs::exists(planned("manifest.json")));
  CHECK(attune(plan_words({"--budget", "300000000s"})).exit_code == 0);
}

TEST_CASE_FIXTURE(FolderWorld, "the same plan again restores what is missing or changed of it, and says so") {
  REQUIRE(attune(tune_words("none")).exit_code == 0);
  make_plan({"--try", database});
  const std::string first = base::read_file(planned("shards/0000.jsonl")), carried = base::read_file(planned("try/0.db"));
  fs::remove(planned("shards/0000.jsonl"));
  test::write_bytes(planned("shards/0001.jsonl"), "changed\n");
  fs::remove_all(planned("try"));
  fs::remove_all(planned("results"));
  const auto again = attune(plan_words({"--try", database}));
  CHECK(again.exit_code == 0);
  CHECK(mentions(again.out, "3 file(s) of it were missing or damaged"));
  CHECK(base::read_file(planned("shards/0000.jsonl")) == first);
  CHECK(base::read_file(planned("try/0.db")) == carried);
  CHECK_FALSE(fs::exists(planned("shards/.carried")));
  run_shard(0);
  run_shard(1);
  CHECK_FALSE(mentions(attune(plan_words({"--try", database})).out, "missing or damaged"));
}

}  // namespace test_fleet_folder
