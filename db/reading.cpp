#include "db/reading.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <thread>

#include "db/companion_files.hpp"
#include "db/database.hpp"
#include "db/file_system.hpp"
#include "db/migrations.hpp"
#include "db/sqlite_error.hpp"
#include "tuner/base/characters.hpp"
#include "tuner/base/errno_text.hpp"

namespace attune::db {
namespace {

namespace fs = std::filesystem;

/// As an URI, because only an URI can say what the file is to be spared.
std::unique_ptr<SQLite::Database> open_read_only(const fs::path& path, const char* options) {
  std::string uri = "file:";
  for (const char c : path.string()) {
    const bool plain = base::is_name_part(c) || c == '/' || c == '.' || c == '-';
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  auto sqlite = std::make_unique<SQLite::Database>(uri + "?mode=ro" + options,
                                                   SQLite::OPEN_READONLY | SQLite::OPEN_URI | SQLite::OPEN_NOMUTEX, kBusyTimeoutMs);
  // With no locks in its way SQLite would remove, on closing, a WAL that it finds nothing in.
  sqlite3_db_config(sqlite->getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  harden(*sqlite);
  return sqlite;
}

/// The WAL is indexed in this process's memory: no -shm file is read, made or locked.
std::unique_ptr<SQLite::Database> open_with_private_index(const fs::path& path) {
  auto sqlite = open_read_only(path, "&vfs=unix-none");
  sqlite->exec("PRAGMA locking_mode = EXCLUSIVE");
  return sqlite;
}

/// Released versions stay readable: an update of the program must not make dispatch lose what was tuned before it.
void accept(const fs::path& path, Connection& connection, const KeepGoing& keep_going) {
  SQLite::Database& sqlite = *connection.sqlite;
  connection.guard = std::make_unique<Guard>(sqlite, path, keep_going);
  wait_often(sqlite, *connection.guard);
  connection.guard->watch("opening", [&] {
    const Identity identity = read_identity(sqlite);
    require_ours(path, identity);
    if (identity.user_version == 0) {
      refuse_contents(path,
                      "nothing has been stored in it yet, and it is opened read-only; a tuning run with --db makes it a "
                      "database");
    }
    if (identity.schema.kind != SchemaFinding::Kind::Same) {
      refuse_contents(path, fmt::format("it is damaged: {}; the next tuning run sets the file aside and keeps what can be read of it",
                                        identity.schema.what));
    }
    take_long_values(sqlite);
    connection.schema_version = identity.user_version;
    if (identity.user_version < Database::kSchemaVersion) add_missing_tables(sqlite);
  });
}

Connection read_unchanging(const fs::path& path, const std::string& why, const KeepGoing& keep_going) {
  Connection connection;
  connection.sqlite = open_untouched(path);
  accept(path, connection, keep_going);
  connection.notices.push_back(fmt::format("database '{}' is read as an unchanging file: {}", path.string(), why));
  return connection;
}

Identity identity_untouched(const fs::path& path, const KeepGoing& keep_going) {
  const auto sqlite = open_untouched(path);
  Guard guard(*sqlite, path, keep_going);
  wait_often(*sqlite, guard);
  return guard.watch("opening", [&] { return read_identity(*sqlite); });
}

/// A writer died while it changed a file in rollback mode: until the journal beside it is played back, pages of two
/// states are mixed. SQLite does that when the file is opened for writing.
void play_journal_back(const fs::path& path, const KeepGoing& keep_going) {
  try {
    SQLite::Database sqlite(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_NOMUTEX, kBusyTimeoutMs);
    harden(sqlite);
    Guard guard(sqlite, path, keep_going);
    wait_often(sqlite, guard);
    (void)sqlite.execAndGet("SELECT count(*) FROM sqlite_master");
  } catch (const SQLite::Exception& error) {
    fail_opening(path, fmt::format("a process died while it wrote to it, and what '{}-journal' holds cannot be played back here "
                                   "({}); open it once where file and folder can be written",
                                   path.string(), error.what()));
  }
}

/// What opening for reading meets where no -shm file can be made: in a folder that this user cannot write, on a
/// read-only or a full file system.
bool lacks_shared_memory(const SQLite::Exception& error) {
  if (error.getExtendedErrorCode() == SQLITE_READONLY_ROLLBACK) return false;
  const int primary = error.getErrorCode() & 0xff;
  return primary == SQLITE_CANTOPEN || primary == SQLITE_READONLY || primary == SQLITE_IOERR || primary == SQLITE_FULL ||
         primary == SQLITE_PERM;
}

Connection connect(const fs::path& path, const KeepGoing& keep_going) {
  if (is_wal_file(path)) {
    if (const auto network = network_file_system_of(path)) {
      return read_unchanging(path,
                             fmt::format("it is in WAL mode, which does not work on its file system ({}); the next "
                                         "tuning run there converts it",
                                         *network),
                             keep_going);
    }
  }
  Connection connection;
  try {
    connection.sqlite = open_read_only(path, "");
    accept(path, connection, keep_going);
  } catch (const SQLite::Exception& error) {
    if (!lacks_shared_memory(error) || !is_wal_file(path)) throw;
    return read_unchanging(path,
                           fmt::format("no -shm file can be made beside it, because its folder cannot be written or its disk "
                                       "is full ({})",
                                       error.what()),
                           keep_going);
  }
  return connection;
}

}  // namespace

bool is_present(const fs::path& path) {
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

bool is_wal_file(const fs::path& path) {
  std::array<char, 20> header{};
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const ssize_t got = ::pread(fd, header.data(), header.size(), 0);
  ::close(fd);
  return got == static_cast<ssize_t>(header.size()) && header[18] == 2 && header[19] == 2;
}

std::unique_ptr<SQLite::Database> open_untouched(const fs::path& path) {
  // immutable=1 would miss the rows of a WAL, and readonly_shm=1 follows a writer that is at work.
  if (!has_bytes(beside(path, "-wal"))) return open_read_only(path, "&immutable=1");
  if (is_present(beside(path, "-shm"))) {
    try {
      auto sqlite = open_read_only(path, "&readonly_shm=1");
      (void)sqlite->execAndGet("PRAGMA user_version");
      return sqlite;
    } catch (const SQLite::Exception& error) {
      if (!lacks_shared_memory(error)) throw;
    }
  }
  return open_with_private_index(path);
}

void refuse_foreign(const fs::path& path, const KeepGoing& keep_going) {
  Identity identity;
  // Another process may be creating the file, or setting it aside: it is read without locks, and what is torn now is whole in a moment.
  constexpr int kLooks = 20;
  for (int look = 1;; ++look) {
    try {
      refuse_foreign_companions(path);
      if (!has_bytes(path)) return;
      refuse_what_is_no_database(path);
    } catch (const DatabaseError&) {
      if (look == kLooks) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      continue;
    }
    try {
      identity = identity_untouched(path, keep_going);
      break;
    } catch (const SQLite::Exception& error) {
      if (!is_damage(error)) return;
      if (look == kLooks) return require_header_of_ours(path, error.what());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  // The rest of an identity may be torn as well: these stand on its first page.
  if (identity.user_version > Database::kSchemaVersion || identity.application_id != kApplicationId ||
      identity.schema.kind == SchemaFinding::Kind::Foreign) {
    require_ours(path, identity);
  }
}

Connection open_for_reading(const fs::path& path, const KeepGoing& keep_going) {
  if (is_folder(path)) fail_opening(path, "it is a folder; name a file with ATTUNE_DB or --db");
  if (::access(path.c_str(), R_OK) != 0) {
    fail_opening(
        path, fmt::format("{}; a tuning run creates it, or name another file with ATTUNE_DB or --db", base::errno_text("access", errno)));
  }
  refuse_foreign(path, keep_going);
  try {
    try {
      return connect(path, keep_going);
    } catch (const SQLite::Exception& error) {
      if (error.getExtendedErrorCode() != SQLITE_READONLY_ROLLBACK) throw;
    }
    play_journal_back(path, keep_going);
    return connect(path, keep_going);
  } catch (const SQLite::Exception& error) {
    throw_sqlite_failure(path, "opening it for reading", error);
  }
}

}  // namespace attune::db
