#include "db/database_file.hpp"

#include <SQLiteCpp/Statement.h>
#include <fmt/core.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <thread>

#include "db/companion_files.hpp"
#include "db/database.hpp"
#include "db/file_system.hpp"
#include "db/migrations.hpp"
#include "db/page_check.hpp"
#include "db/reading.hpp"
#include "db/replace_damaged.hpp"
#include "db/sqlite_error.hpp"
#include "tuner/base/errno_text.hpp"

namespace attune::db {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBusyTimeout{kBusyTimeoutMs};

void make_private_folder(const fs::path& database) {
  fs::path partial;
  for (const fs::path& part : database.parent_path()) {
    partial /= part;
    if (::mkdir(partial.c_str(), 0700) == 0 || errno == EEXIST) continue;
    const int error_number = errno;
    struct stat status {};
    // A folder of a read-only or foreign file system answers EROFS or EACCES even where it exists.
    if (::stat(partial.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) continue;
    fail_opening(database, fmt::format("{} for '{}'; {}", base::errno_text("mkdir", error_number), partial.string(), kOtherFileRemedy));
  }
}

/// How the changes of a transaction reach the file.
struct Journal {
  const char* mode = "wal";
  std::optional<std::string> network;  ///< the file system's name, when it is one
};

Journal journal_for(const fs::path& path) {
  if (auto network = network_file_system_of(path)) return {"delete", std::move(network)};
  return {};
}

void switch_journal(SQLite::Database& sqlite, Guard& guard, const fs::path& path, const Journal& journal) {
  // The switch ignores the busy timeout (SQLite 3.40). The opening lock keeps other writers of ours out, but not one
  // that is just closing, nor a reader.
  const auto deadline = Clock::now() + kBusyTimeout;
  auto pause = std::chrono::milliseconds(1);
  for (;;) {
    try {
      const std::string mode = sqlite.execAndGet(fmt::format("PRAGMA journal_mode = {}", journal.mode)).getString();
      if (mode == journal.mode) return;
      fail_opening(path, fmt::format("its file system does not support the journal mode '{}' (it stays '{}'); keep the database "
                                     "on a local disk (ATTUNE_DB or --db)",
                                     journal.mode, mode));
    } catch (const SQLite::Exception& error) {
      if (!is_busy(error) || Clock::now() >= deadline) throw;
      guard.begin("opening");  // ends the waiting when somebody wants to stop
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds(32));
  }
}

/// Requires: the file is known to be ours and sound.
void prepare_journal(SQLite::Database& sqlite, Guard& guard, const fs::path& path, const Journal& journal) {
  switch_journal(sqlite, guard, path, journal);
  if (!journal.network) {
    // WAL with NORMAL survives the death of a process (the kernel has the pages), and a power cut without damage; a
    // power cut may take the last commits, which FULL would pay 190 us a commit for.
    sqlite.exec("PRAGMA synchronous = NORMAL");
    return;
  }
  // A rollback journal that is not synchronised may leave a damaged file behind, not only an older one.
  sqlite.exec("PRAGMA synchronous = FULL");
  sqlite.exec("PRAGMA locking_mode = NORMAL");  // takes effect with the next access, which migrate() makes
}

/// What is wrong with a file that may be set aside for it: one of ours, damaged. Throws: SQLite::Exception, DatabaseError.
/// Mends what can be mended in place.
std::string damage_of(Connection& connection, const fs::path& path) {
  SQLite::Database& sqlite = *connection.sqlite;
  bool known = false;
  try {
    const Identity identity = read_identity(sqlite);
    require_ours(path, identity);
    known = true;
    if (identity.has_tables && identity.schema.kind != SchemaFinding::Kind::Same) return identity.schema.what;
    if (!identity.encoding_damage.empty()) return identity.encoding_damage;
    if (sqlite3_db_readonly(sqlite.getHandle(), "main") == 1) {
      if (std::string format = unknown_format(path); !format.empty()) return format;
    }
    take_long_values(sqlite);
    const PageFinding pages = check_pages(sqlite, path);
    if (pages.damage.empty() && pages.rebuilt > 0) {
      connection.notices.push_back(
          fmt::format("database '{}' was damaged in its indexes; all {} were made anew from its tables", path.string(), pages.rebuilt));
    }
    if (pages.damage.empty() && identity.user_version != identity.stated_version) {
      sqlite.exec(fmt::format("PRAGMA user_version = {}", identity.user_version));
      connection.notices.push_back(
          fmt::format("database '{}' had a damaged header: it said schema version {}; its tables are of version {}", path.string(),
                      identity.stated_version, identity.user_version));
    }
    return pages.damage;
  } catch (const SQLite::Exception& error) {
    if (!is_damage(error) && (error.getErrorCode() != SQLITE_ERROR || unknown_format(path).empty())) throw;
    if (!known) require_header_of_ours(path, error.what());
    return error.what();
  }
}

/// Opens, checks, migrates. Returns the damage for which the file is to be set aside; it is closed then.
/// Throws: SQLite::Exception, DatabaseError.
std::string try_open_for_writing(Connection& connection, const fs::path& path, const Journal& journal, const KeepGoing& keep_going) {
  const int flags = SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE | SQLite::OPEN_NOMUTEX;
  connection.guard.reset();
  connection.sqlite = std::make_unique<SQLite::Database>(path.string(), flags, kBusyTimeoutMs);
  SQLite::Database& sqlite = *connection.sqlite;
  harden(sqlite);
  connection.guard = std::make_unique<Guard>(sqlite, path, keep_going);
  if (journal.network) {
    wait_seldom(sqlite, *connection.guard);
  } else {
    wait_often(sqlite, *connection.guard);
  }
  if (journal.network && is_wal_file(path)) {
    // It came here from a local disk. Alone, SQLite reads a WAL without the shared memory that a network cannot give.
    sqlite.exec("PRAGMA locking_mode = EXCLUSIVE");
  }
  // Until the file is known to be ours and sound, closing it must not move its WAL into it.
  sqlite3_db_config(sqlite.getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  std::string damage = connection.guard->watch("opening", [&] { return damage_of(connection, path); });
  if (!damage.empty()) {
    connection.guard.reset();
    connection.sqlite.reset();
    return damage;
  }
  if (sqlite3_db_readonly(sqlite.getHandle(), "main") == 1) {
    fail_opening(path, fmt::format("the file cannot be written (read-only); {}", kOtherFileRemedy));
  }
  sqlite3_db_config(sqlite.getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
  prepare_journal(sqlite, *connection.guard, path, journal);
  connection.schema_version = Database::kSchemaVersion;
  const auto bring_up_to_date = [&] { connection.guard->watch("migrating", [&] { migrate(sqlite, Database::kSchemaVersion); }); };
  try {
    bring_up_to_date();
    return {};
  } catch (const SQLite::Exception& error) {
    if (!is_damage_met(error)) throw;
  }
  // A file too large to be checked wholly on opening: a migration that reads rows is the first to meet what is wrong with it.
  mark_suspect(path);
  damage = connection.guard->watch("opening", [&] { return damage_of(connection, path); });
  if (damage.empty()) {
    bring_up_to_date();
    return {};
  }
  connection.guard.reset();
  connection.sqlite.reset();
  return damage;
}

}  // namespace

Connection open_for_writing(const fs::path& path, const KeepGoing& keep_going, const Salvager& salvage) {
  if (is_folder(path)) fail_opening(path, fmt::format("it is a folder; {}", kOtherFileRemedy));
  if (salvage) refuse_unsafe_files(path);
  make_private_folder(path);
  refuse_foreign(path, keep_going);  // before the lock file is made beside it
  LockFile lock(path);
  lock.lock(LockFile::Part::Opening, LockFile::Share::Alone, kBusyTimeout, keep_going);
  // Mending a large file takes longer than others would wait for a lock that seems stuck. The connection's guard asks on when
  // the lock is gone.
  const auto held = std::make_shared<const LockFile*>(&lock);
  const KeepGoing keep_holding = [held, keep_going] {
    if (*held != nullptr) (*held)->tell_at_work();
    return !keep_going || keep_going();
  };
  Connection connection;
  try {
    refuse_foreign(path, keep_holding);  // again: another process may have made it since
    let_companions_be_written(path);
    const Journal journal = journal_for(path);
    if (journal.network) {
      connection.notices.push_back(
          fmt::format("database '{}' is on a network file system ({}), where WAL does not work: it uses a rollback journal instead, "
                      "and every stored measurement waits for the server's disk; a local file (ATTUNE_DB or --db) is faster",
                      path.string(), *journal.network));
    }
    if (std::string notice = finish_replacing(path, lock); !notice.empty()) connection.notices.push_back(std::move(notice));
    const std::string damage = try_open_for_writing(connection, path, journal, keep_holding);
    if (!damage.empty() && !salvage) fail_opening(path, fmt::format("a newly created file is damaged ({}); check the disk", damage));
    if (!damage.empty()) {
      connection.notices.push_back(replace_damaged(
          path, lock, damage, [&](const fs::path& damaged, const fs::path& fresh) { return salvage(damaged, fresh, keep_holding); }));
      const std::string more = try_open_for_writing(connection, path, journal, keep_holding);
      if (!more.empty()) fail_opening(path, fmt::format("a newly created file is damaged ({}); check the disk", more));
    }
  } catch (const SQLite::Exception& error) {
    *held = nullptr;
    throw_sqlite_failure(path, "opening it for writing", error);
  }
  *held = nullptr;
  lock.lock(LockFile::Part::InUse, LockFile::Share::Shared, kBusyTimeout, keep_going);
  lock.unlock(LockFile::Part::Opening);
  connection.in_use = std::move(lock);
  return connection;
}

}  // namespace attune::db
