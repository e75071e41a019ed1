// Network file systems: found by statfs, WAL refused, a rollback journal instead. statfs is tests/support/fake_statfs.cpp.
#include <doctest/doctest.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "db/file_system.hpp"
#include "tests/support/figures.hpp"
#include "tests/unit/db/process.hpp"
#include "tests/unit/db/support.hpp"

namespace test_network {

using namespace attune;
using namespace attune::db;
using namespace attune::db::test;
using attune::test::full_campaign;
using attune::test::record_figures;

namespace {

/// Every file system is one of this magic number meanwhile, for child processes too.
class FileSystem {
 public:
  explicit FileSystem(const char* magic) { ::setenv("ATTUNE_TEST_FILE_SYSTEM", magic, 1); }
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;
  ~FileSystem() { ::unsetenv("ATTUNE_TEST_FILE_SYSTEM"); }
};

constexpr const char* kNfs = "6969";

/// Bytes 18 and 19 of the header: 1 in a rollback journal's mode, 2 in WAL.
std::string journal_bytes(const fs::path& path) { return bytes_of(path).substr(18, 2); }

const std::string kRollback("\1\1"), kWal("\2\2");

}  // namespace

TEST_CASE("network file systems are told by their magic numbers, and local ones are not taken for one") {
  // statfs(2) and linux/magic.h of kernel 6.1
  const std::pair<std::uint32_t, const char*> network[] = {{0x6969, "NFS"},      {0x517B, "SMB"},        {0xFF534D42, "CIFS"},
                                                           {0xFE534D42, "SMB2"}, {0x65735546, "FUSE"},   {0x0BD00BD0, "Lustre"},
                                                           {0x47504653, "GPFS"}, {0x19830326, "BeeGFS"}, {0x00C36400, "Ceph"},
                                                           {0x01021997, "9p"},   {0x5346414F, "AFS"},    {0x73757245, "Coda"}};
  for (const auto& [magic, name] : network) CHECK(network_file_system(magic) == name);
  // ext4, tmpfs, xfs, btrfs, overlayfs, f2fs, zfs, ramfs, squashfs
  for (const std::uint32_t magic :
       {0xEF53u, 0x01021994u, 0x58465342u, 0x9123683Eu, 0x794C7630u, 0xF2F52010u, 0x2FC12FC1u, 0x858458F6u, 0x73717368u}) {
    CHECK_FALSE(network_file_system(magic).has_value());
  }
}

TEST_CASE("the file system of a file that does not exist yet is that of its folder") {
  const TemporaryFolder folder;
  const FileSystem smb("FE534D42");  // the highest bit is set, in a signed field
  CHECK(network_file_system_of(folder / "none.db") == "SMB2");
  CHECK(network_file_system_of(folder.path()) == "SMB2");
  CHECK_FALSE(network_file_system_of("/no such folder/none.db").has_value());
}

TEST_CASE("on a network file system a database uses a rollback journal, and one notice says so and what it costs") {
  const FileSystem nfs(kNfs);
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  Database database = Database::open(path, OpenMode::ReadWrite);
  put_golden_rows(database);
  CHECK(database.info().journal_mode == "delete");
  REQUIRE(database.notices().size() == 1);
  CHECK(mentions(database.notices()[0], path.string()));
  CHECK(mentions(database.notices()[0], "network file system (NFS), where WAL does not work"));
  CHECK(mentions(database.notices()[0], "ATTUNE_DB or --db"));
  const Database reader = Database::open(path, OpenMode::ReadOnly);
  CHECK(reader.notices().empty());
  CHECK(reader.records({}).size() == 4);
  CHECK(database.check().ok);
  CHECK(journal_bytes(path) == kRollback);
  CHECK(names_in(folder.path()) == std::set<std::string>{"a.db", "a.db.lock"});
}

TEST_CASE("a WAL database that comes to a network file system is read as it lies, and converted by the next writer") {
  const TemporaryFolder folder, moved;
  Database writer = Database::open(folder / "a.db", OpenMode::ReadWrite);
  put_golden_rows(writer);
  const fs::path path = moved / "a.db";
  fs::copy_file(folder / "a.db", path);
  fs::copy_file(folder / "a.db-wal", moved / "a.db-wal");  // it holds the rows
  REQUIRE(journal_bytes(path) == kWal);
  const FileSystem nfs(kNfs);
  {
    const Database reader = Database::open(path, OpenMode::ReadOnly);
    CHECK(reader.records({}).size() == 4);
    REQUIRE(reader.notices().size() == 1);
    CHECK(mentions(reader.notices()[0], "(NFS)"));
  }
  CHECK(names_in(moved.path()) == std::set<std::string>{"a.db", "a.db-wal"});
  {
    Database converted = Database::open(path, OpenMode::ReadWrite);
    CHECK(converted.records({}).size() == 4);
    converted.put(record(9));
  }
  CHECK(journal_bytes(path) == kRollback);
  CHECK(names_in(moved.path()) == std::set<std::string>{"a.db", "a.db.lock"});
  const Database reader = Database::open(path, OpenMode::ReadOnly);
  CHECK(reader.records({}).size() == 5);
  CHECK(reader.notices().empty());
  CHECK(reader.check().ok);
}

TEST_CASE("a database that comes back to a local disk uses WAL again, without a notice") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  {
    const FileSystem nfs(kNfs);
    make_database(path);
  }
  const Database database = Database::open(path, OpenMode::ReadWrite);
  CHECK(database.info().journal_mode == "wal");
  CHECK(database.notices().empty());
  CHECK(database.records({}).size() == 4);
}

TEST_CASE("several processes create and write one database on a network file system, with exact counts") {
  const FileSystem nfs(kNfs);
  const int processes = full_campaign() ? 16 : 4, records = full_campaign() ? 100 : 10;
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  int failures = 0;
  {
    Barrier barrier;
    std::vector<std::unique_ptr<Process>> writers;
    for (int i = 0; i < processes; ++i) {
      writers.push_back(std::make_unique<Process>(
          std::vector<std::string>{"put-together", path.string(), std::to_string(i * records), std::to_string(records)}, &barrier));
    }
    for (const auto& writer : writers) (void)writer->read_lines(1);
    barrier.open();
    for (const auto& writer : writers) {
      writer->read_all();
      failures += writer->wait() == 0 ? 0 : 1;
    }
  }
  CHECK(failures == 0);
  const Database database = Database::open(path, OpenMode::ReadOnly);
  CHECK(database.records({}).size() == static_cast<std::size_t>(processes * records));
  CHECK(database.check().ok);
  CHECK(journal_bytes(path) == kRollback);
  record_figures(7, "network_file_system",
                 {{"processes", processes},
                  {"rows", database.records({}).size()},
                  {"failures", failures},
                  {"journal_mode", database.info().journal_mode}});
}

TEST_CASE("on a network file system, a process killed at any file change loses nothing, and readers go on at once") {
  const FileSystem nfs(kNfs);
  const int stride = full_campaign() ? 1 : 7;
  int kills = 0;
  for (int point = 1;; point += stride) {
    CAPTURE(point);
    const TemporaryFolder folder;
    const fs::path path = folder / "a.db";
    make_database(path);
    Process process({"put-killed", path.string(), "change", std::to_string(point)});
    process.read_all();
    const bool acknowledged = process.acknowledged() == 1;
    const int status = process.wait();
    if (!was_killed(status)) {
      REQUIRE(status == 0);
      break;
    }
    ++kills;
    // The journal that it left is played back by whoever comes first.
    const Database reader = Database::open(path, OpenMode::ReadOnly);
    const std::size_t rows = reader.records({}).size();
    CHECK(rows >= (acknowledged ? 5u : 4u));
    CHECK(rows <= 5);
    CHECK(reader.check().ok);
    Database writer = Database::open(path, OpenMode::ReadWrite);
    writer.put(record(101));
    CHECK(writer.records({}).size() == rows + 1);
  }
  CHECK(kills > 0);
}

}  // namespace test_network
