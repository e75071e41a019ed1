#include "db/database_file.hpp"

#include <SQLiteCpp/Statement.h>
#include <fmt/core.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "db/database.hpp"
#include "db/migrations.hpp"
#include "db/page_check.hpp"
#include "db/sqlite_error.hpp"
#include "tuner/base/errno_text.hpp"
#include "tuner/base/text.hpp"

namespace attune::db {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBusyTimeout{kBusyTimeoutMs};

[[noreturn]] void fail(const fs::path& path, const std::string& why) {
  throw DatabaseError(path.string(), fmt::format("failed opening database '{}': {}", path.string(), why));
}

void make_private_folder(const fs::path& database) {
  fs::path partial;
  for (const fs::path& part : database.parent_path()) {
    partial /= part;
    if (::mkdir(partial.c_str(), 0700) == 0 || errno == EEXIST) continue;
    const int error_number = errno;
    struct stat status {};
    // A folder of a read-only or foreign file system answers EROFS or EACCES even where it exists.
    if (::stat(partial.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) continue;
    fail(database,
         fmt::format("{} for '{}'; {}", base::errno_text("mkdir", error_number), partial.string(), kOtherFileRemedy));
  }
}

bool present(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

bool has_bytes(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(path, error);
  return !error && bytes > 0;
}

fs::path beside(const fs::path& path, const char* suffix) { return path.string() + suffix; }

/// As an URI, because only an URI can say immutable=1.
std::unique_ptr<SQLite::Database> open_read_only(const fs::path& path, const char* options) {
  std::string uri = "file:";
  for (const char c : path.string()) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
                       c == '.' || c == '-' || c == '_';
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return std::make_unique<SQLite::Database>(
      uri + "?mode=ro" + options, SQLite::OPEN_READONLY | SQLite::OPEN_URI | SQLite::OPEN_NOMUTEX, kBusyTimeoutMs);
}

/// Refuses what must stay byte-identical before anything opens the file for writing: even a connection that only
/// reads would, on closing, move a WAL into it. Says nothing about damage: the writer's own look does.
void refuse_foreign_files(const fs::path& path) {
  if (!has_bytes(path)) return;
  // Without a WAL or journal nobody is writing (the opening lock is ours), and immutable=1 leaves no files behind.
  const bool settled = !present(beside(path, "-wal")) && !present(beside(path, "-journal"));
  Identity identity;
  try {
    identity = read_identity(*open_read_only(path, settled ? "&immutable=1" : ""));
  } catch (const SQLite::Exception&) {
    return;
  }
  require_ours(path, identity);
}

void use_wal(SQLite::Database& sqlite, const fs::path& path) {
  // The switch ignores the busy timeout (SQLite 3.40). The opening lock keeps other writers of ours out, but not one
  // that is just closing, nor a reader.
  const auto deadline = Clock::now() + kBusyTimeout;
  auto pause = std::chrono::milliseconds(1);
  for (;;) {
    try {
      const std::string mode = sqlite.execAndGet("PRAGMA journal_mode = WAL").getString();
      if (mode == "wal") return;
      fail(path, fmt::format("its file system does not support WAL (journal mode stays '{}'); keep the database on a "
                             "local disk (ATTUNE_DB or --db)",
                             mode));
    } catch (const SQLite::Exception& error) {
      if (!is_busy(error) || Clock::now() >= deadline) throw;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds(32));
  }
}

/// Several tuning processes commit a thousand times a second into one file, for some 30 us each: SQLite's own handler, which
/// sleeps 1 to 100 ms, leaves them waiting for a lock that is long free.
int wait_for_lock(void*, int attempts) {
  constexpr std::chrono::microseconds kShortest{50}, kLongest{1000};
  if (attempts >= kBusyTimeoutMs) return 0;  // nearly all attempts take a millisecond
  std::this_thread::sleep_for(std::min(kShortest * (1 << std::min(attempts, 8)), kLongest));
  return 1;
}

/// Opens, checks, migrates. Throws: SQLite::Exception, DatabaseError. `damage` is set when the file is to be set aside.
std::unique_ptr<SQLite::Database> try_open_for_writing(const fs::path& path, std::string& damage) {
  const int flags = SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE | SQLite::OPEN_NOMUTEX;
  auto sqlite = std::make_unique<SQLite::Database>(path.string(), flags, kBusyTimeoutMs);
  sqlite3_busy_handler(sqlite->getHandle(), wait_for_lock, nullptr);  // takes the timeout's place
  // Until the file is known to be ours and sound, closing it must not move its WAL into it.
  sqlite3_db_config(sqlite->getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  try {
    const Identity identity = read_identity(*sqlite);
    require_ours(path, identity);
    damage = page_damage(*sqlite, path);
    if (damage.empty()) damage = schema_damage(*sqlite, identity.user_version);
  } catch (const SQLite::Exception& error) {
    if (!is_damage(error)) throw;
    damage = error.what();
  }
  if (!damage.empty()) return nullptr;
  if (sqlite3_db_readonly(sqlite->getHandle(), "main") == 1) {
    fail(path, fmt::format("the file cannot be written (read-only); {}", kOtherFileRemedy));
  }
  sqlite3_db_config(sqlite->getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
  use_wal(*sqlite, path);
  // WAL with NORMAL survives the death of a process (the kernel has the pages), and a power cut without damage; a
  // power cut may take the last commits, which FULL would pay 190 us a commit for.
  sqlite->exec("PRAGMA synchronous = NORMAL");
  migrate(*sqlite, Database::kSchemaVersion);
  return sqlite;
}

/// Renames the damaged file and what belongs to it; returns its new name. Requires: the opening lock.
fs::path set_aside(const fs::path& path, LockFile& lock, const std::string& damage) {
  if (!lock.try_lock(LockFile::Part::InUse, LockFile::Share::Alone)) {
    fail(path, fmt::format("it is damaged ({}) and another process is using it; stop that one and try again", damage));
  }
  std::string stamp = base::utc_now();
  stamp.erase(std::remove_if(stamp.begin(), stamp.end(), [](char c) { return c == '-' || c == ':'; }), stamp.end());
  fs::path target = path.string() + ".corrupt-" + stamp;
  for (int i = 2; present(target); ++i) target = fmt::format("{}.corrupt-{}-{}", path.string(), stamp, i);
  // The WAL goes first: left beside a new database it would be replayed into that one.
  for (const char* suffix : {"-wal", "-journal", "-shm", ""}) {
    if (!present(beside(path, suffix))) continue;
    std::error_code error;
    fs::rename(beside(path, suffix), beside(target, suffix), error);
    if (error) {
      fail(path, fmt::format("it is damaged ({}), and setting it aside failed: {}", damage,
                             base::errno_text("rename", error.value())));
    }
  }
  remove_suspect_mark(path);
  lock.unlock(LockFile::Part::InUse);
  return target;
}

void require_current(const fs::path& path, const Identity& identity) {
  require_ours(path, identity);
  if (identity.user_version == Database::kSchemaVersion) return;
  fail(path, fmt::format("its schema version {} is older than version {} of this build, and it is opened read-only; "
                         "open it once for writing (any tuning run with --db) to migrate it",
                         identity.user_version, Database::kSchemaVersion));
}

/// A WAL database needs its -shm file, which a reader cannot create in a folder that it cannot write.
Connection open_immutable(const fs::path& path, const SQLite::Exception& why) {
  if (has_bytes(beside(path, "-wal"))) {
    fail(path, fmt::format("SQLite cannot read it here ({}), and '{}-wal' holds rows that are not in the file yet; "
                           "open it once where its folder can be written, or copy both files to such a folder",
                           why.what(), path.string()));
  }
  Connection connection;
  connection.sqlite = open_read_only(path, "&immutable=1");
  require_current(path, read_identity(*connection.sqlite));
  connection.notices.push_back(
      fmt::format("database '{}' is read as an unchanging file: its folder cannot be written", path.string()));
  return connection;
}

}  // namespace

Connection open_for_writing(const fs::path& path) {
  if (is_folder(path)) fail(path, fmt::format("it is a folder; {}", kOtherFileRemedy));
  make_private_folder(path);
  LockFile lock(path);
  lock.lock(LockFile::Part::Opening, LockFile::Share::Alone, kBusyTimeout);
  Connection connection;
  try {
    refuse_foreign_files(path);
    std::string damage;
    connection.sqlite = try_open_for_writing(path, damage);
    if (!connection.sqlite) {
      const fs::path aside = set_aside(path, lock, damage);
      connection.notices.push_back(
          fmt::format("database '{}' was damaged ({}); it was set aside as '{}' and a new one "
                      "was created",
                      path.string(), damage, aside.string()));
      damage.clear();
      connection.sqlite = try_open_for_writing(path, damage);
      if (!connection.sqlite) fail(path, fmt::format("a newly created file is damaged ({}); check the disk", damage));
    }
  } catch (const SQLite::Exception& error) {
    throw sqlite_failure(path, "opening it for writing", error);
  }
  lock.lock(LockFile::Part::InUse, LockFile::Share::Shared, kBusyTimeout);
  lock.unlock(LockFile::Part::Opening);
  connection.in_use = std::move(lock);
  return connection;
}

Connection open_for_reading(const fs::path& path) {
  if (is_folder(path)) fail(path, "it is a folder; name a file with ATTUNE_DB or --db");
  if (::access(path.c_str(), R_OK) != 0) {
    fail(path, fmt::format("{}; a tuning run creates it, or name another file with ATTUNE_DB or --db",
                           base::errno_text("access", errno)));
  }
  try {
    Connection connection;
    try {
      connection.sqlite = open_read_only(path, "");
      require_current(path, read_identity(*connection.sqlite));
    } catch (const SQLite::Exception& error) {
      const int primary = error.getErrorCode() & 0xff;
      if (primary != SQLITE_CANTOPEN && primary != SQLITE_READONLY) throw;
      return open_immutable(path, error);
    }
    return connection;
  } catch (const SQLite::Exception& error) {
    throw sqlite_failure(path, "opening it for reading", error);
  }
}

}  // namespace attune::db
