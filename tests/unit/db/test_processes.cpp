#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>

#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>
#include <vector>

#include "db/lock_file.hpp"
#include "tests/support/figures.hpp"
#include "tests/unit/db/process.hpp"
#include "tests/unit/db/support.hpp"

namespace test_processes {

using namespace attune;
using namespace attune::db;
using namespace attune::db::test;
using attune::test::full_campaign;
using attune::test::record_figures;

namespace {

std::unique_ptr<Process> start_put(const fs::path& path, int first, int count, const Barrier* barrier = nullptr) {
  return std::make_unique<Process>(
      std::vector<std::string>{barrier != nullptr ? "put-together" : "put", path.string(), std::to_string(first), std::to_string(count)},
      barrier);
}

int number_of(const RecordRow& row) { return std::stoi(row.configuration.substr(row.configuration.find(':') + 1)); }

/// Starts processes that each store `records` records, all at one moment; returns how many failed.
int put_together(const fs::path& path, int processes, int records) {
  Barrier barrier;
  std::vector<std::unique_ptr<Process>> writers;
  for (int i = 0; i < processes; ++i) writers.push_back(start_put(path, 100 + i * records, records, &barrier));
  for (const auto& writer : writers) (void)writer->read_lines(1);  // "ready"
  barrier.open();
  int failed = 0;
  for (const auto& writer : writers) {
    writer->read_all();
    if (writer->wait() != 0 || writer->acknowledged() != static_cast<std::size_t>(records) + 1) ++failed;
  }
  return failed;
}

/// Writers of one database, and what they were told is stored, whoever has been killed since.
class Herd {
 public:
  Herd(fs::path path, int writers) : path_(std::move(path)), writers_(static_cast<std::size_t>(writers)) {
    for (auto& writer : writers_) start(writer);
  }

  /// One of them is killed after a while, and replaced by a new one.
  void kill_one(std::mt19937& random, std::chrono::microseconds longest) {
    const auto pause = std::uniform_int_distribution<long>(0, longest.count())(random);
    std::this_thread::sleep_for(std::chrono::microseconds(pause));
    // Every other time the newest: it may be opening, creating or migrating.
    const std::size_t any = std::uniform_int_distribution<std::size_t>(0, writers_.size() - 1)(random);
    const std::size_t victim = random() % 2 == 0 ? newest_ : any;
    for (auto& writer : writers_) writer.process->read_present();
    end(writers_[victim]);
    start(writers_[victim]);
    newest_ = victim;
  }
  void kill_all() {
    for (const auto& writer : writers_) writer.process->kill();
    for (auto& writer : writers_) end(writer);
    writers_.clear();
  }
  [[nodiscard]] std::uint64_t acknowledged() const { return acknowledged_; }
  [[nodiscard]] std::uint64_t unexpected_ends() const { return unexpected_ends_; }

  /// How many acknowledged records a database lacks.
  [[nodiscard]] std::uint64_t lost(const Database& database) const {
    std::map<int, bool> present;
    for (const RecordRow& row : database.records({})) present[number_of(row)] = same(row, record(number_of(row)));
    std::uint64_t count = 0;
    for (const auto& [first, records] : told_) {
      for (int i = first; i < first + records; ++i) count += present.contains(i) && present[i] ? 0 : 1;
    }
    return count;
  }

 private:
  struct Writer {
    std::unique_ptr<Process> process;
    int first = 0;
  };

  void start(Writer& writer) {
    writer.first = next_;
    next_ += 100000;
    writer.process = start_put(path_, writer.first, 100000);
  }
  void end(Writer& writer) {
    writer.process->kill();
    writer.process->read_all();
    if (!was_killed(writer.process->wait())) ++unexpected_ends_;
    told_[writer.first] = static_cast<int>(writer.process->acknowledged());
    acknowledged_ += writer.process->acknowledged();
  }

  fs::path path_;
  std::vector<Writer> writers_;
  std::map<int, int> told_;  ///< first number and count of what each process was told
  std::size_t newest_ = 0;
  int next_ = 1000;
  std::uint64_t acknowledged_ = 0, unexpected_ends_ = 0;
};

}  // namespace

TEST_CASE("kill -9 of writers at random moments loses no acknowledged record and leaves the database sound") {
  constexpr int kWriters = 4, kKillsPerDatabase = 25;
  const int wanted = full_campaign() ? 1000 : 75;
  std::mt19937 random(20261121);
  int kills = 0, unsound = 0;
  std::uint64_t acknowledged = 0, lost = 0, unexpected_ends = 0;
  for (int round = 0; kills < wanted; ++round) {
    const TemporaryFolder folder;
    const fs::path path = folder / "a.db";
    // Every third time they find a database to be migrated, else none.
    if (round % 3 == 2) fs::copy_file(golden(1), path);
    Herd herd(path, kWriters);
    for (int i = 0; i < kKillsPerDatabase - kWriters; ++i) herd.kill_one(random, std::chrono::milliseconds(20));
    herd.kill_all();
    kills += kKillsPerDatabase;
    const Database database = Database::open(path, OpenMode::ReadWrite);
    const std::uint64_t lost_here = herd.lost(database);
    const bool sound = database.check().ok && database.notices().empty();
    CAPTURE(round);
    CHECK(lost_here == 0);
    CHECK(sound);
    lost += lost_here;
    unsound += sound ? 0 : 1;
    acknowledged += herd.acknowledged();
    unexpected_ends += herd.unexpected_ends();
  }
  CHECK(unexpected_ends == 0);
  CHECK(acknowledged > 0);
  record_figures(1, "kill_nine_database",
                 {{"kills", kills}, {"writers", kWriters}, {"acknowledged", acknowledged}, {"lost", lost}, {"unsound", unsound}});
}

TEST_CASE("processes that start at one moment on a database that does not exist yet all succeed, with exact counts") {
  const int processes = full_campaign() ? 64 : 16, rounds = full_campaign() ? 100 : 4, records = 3;
  int failures = 0, wrong_counts = 0, unsound = 0;
  std::uint64_t rows = 0;
  std::vector<double> seconds;
  for (int round = 0; round < rounds; ++round) {
    CAPTURE(round);
    const TemporaryFolder folder;
    const fs::path path = folder / "new" / "a.db";
    const auto start = std::chrono::steady_clock::now();
    const int failed = put_together(path, processes, records);
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    const Database database = Database::open(path, OpenMode::ReadWrite);
    const std::size_t found = database.records({}).size();
    const bool sound = database.check().ok && database.notices().empty();
    CHECK(failed == 0);
    CHECK(found == static_cast<std::size_t>(processes * records));
    CHECK(sound);
    failures += failed;
    wrong_counts += found == static_cast<std::size_t>(processes * records) ? 0 : 1;
    unsound += sound ? 0 : 1;
    rows += found;
  }
  std::sort(seconds.begin(), seconds.end());
  record_figures(2, "cold_starts",
                 {{"processes", processes},
                  {"rounds", rounds},
                  {"rows", rows},
                  {"failures", failures},
                  {"wrong_counts", wrong_counts},
                  {"unsound", unsound},
                  {"round_s_p50", seconds[seconds.size() / 2]},
                  {"round_s_max", seconds.back()}});
}

TEST_CASE("sixteen processes that migrate one database at once all succeed, from every released version") {
  for (int version = 1; version < Database::kSchemaVersion; ++version) {
    CAPTURE(version);
    const TemporaryFolder folder;
    const fs::path path = folder / "a.db";
    fs::copy_file(golden(version), path);
    CHECK(put_together(path, 16, 1) == 0);
    Database database = Database::open(path, OpenMode::ReadOnly);
    CHECK(database.info().schema_version == Database::kSchemaVersion);
    CHECK(database.records({}).size() == 4 + 16);
    CHECK(database.check().ok);
  }
}

namespace {

bool has_record(const Database& database, int i) {
  const RecordRow row = record(i);
  return database.record({row.template_hash, std::nullopt, row.problem, row.device_key, row.policy}, row.configuration).has_value();
}

}  // namespace

TEST_CASE("sixteen processes that find a damaged file set it aside once") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  make_database(path);
  fs::resize_file(path, 5 * 4096);
  {
    std::vector<std::unique_ptr<Process>> writers;
    for (int i = 0; i < 16; ++i) writers.push_back(start_put(path, i, 1));
    for (const auto& writer : writers) {
      writer->read_all();
      CHECK(writer->wait() == 0);
    }
  }
  const Database database = Database::open(path, OpenMode::ReadOnly);
  for (int i = 0; i < 16; ++i) CHECK(has_record(database, i));
  int aside = 0;
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("a.db.corrupt-") && !name.ends_with("-wal") && !name.ends_with("-shm")) ++aside;
  }
  CHECK(aside == 1);
}

TEST_CASE("a reader sees whole states while another process writes") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  Process writer({"put", path.string(), "0", "400"});
  REQUIRE(writer.read_lines(1));
  Database reader = Database::open(path, OpenMode::ReadOnly);
  std::size_t last = 0;
  for (int i = 0; i < 50; ++i) {
    const auto rows = reader.records({});
    CHECK(rows.size() >= last);
    last = rows.size();
    for (std::size_t k = 0; k < rows.size(); ++k) REQUIRE(same(rows[k], record(static_cast<int>(k))));
  }
  writer.read_all();
  CHECK(writer.wait() == 0);
  CHECK(reader.records({}).size() == 400);
  CHECK(reader.bad_rows() == 0);
}

TEST_CASE("a lock part held alone excludes other holders until it is unlocked or its holder is gone") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  LockFile one(path), two(path);
  {
    LockFile three(path);
    REQUIRE(three.try_lock(LockFile::Part::Opening, LockFile::Share::Alone));
    CHECK_FALSE(one.try_lock(LockFile::Part::Opening, LockFile::Share::Alone));
    CHECK(one.try_lock(LockFile::Part::InUse, LockFile::Share::Shared));
    CHECK(two.try_lock(LockFile::Part::InUse, LockFile::Share::Shared));
    CHECK_FALSE(three.try_lock(LockFile::Part::InUse, LockFile::Share::Alone));
    CHECK_THROWS_WITH_AS(one.lock(LockFile::Part::Opening, LockFile::Share::Alone, std::chrono::milliseconds(5)),
                         doctest::Contains("another process has held"), DatabaseError);
  }
  CHECK(one.try_lock(LockFile::Part::Opening, LockFile::Share::Alone));
  one.unlock(LockFile::Part::Opening);
  CHECK(two.try_lock(LockFile::Part::Opening, LockFile::Share::Alone));
}

}  // namespace test_processes
