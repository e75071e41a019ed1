// What is done to a database as a whole: counting, checking, copying.
#include <fcntl.h>
#include <fmt/core.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>

#include "db/database_state.hpp"
#include "db/migrations.hpp"
#include "tuner/base/errno_text.hpp"

namespace attune::db {
namespace {

namespace fs = std::filesystem;

/// A half-made file that must not stay.
class Unfinished {
 public:
  explicit Unfinished(fs::path path) : path_(std::move(path)) {}
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  ~Unfinished() {
    for (const char* suffix : {"", "-journal", "-wal", "-shm"}) ::unlink((path_.string() + suffix).c_str());
  }

 private:
  fs::path path_;
};

std::uint64_t bytes_of(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(path, error);
  return error ? 0 : bytes;
}

[[noreturn]] void fail_export(const fs::path& path, const std::string& why) {
  throw DatabaseError(path.string(), fmt::format("failed exporting to '{}': {}", path.string(), why));
}

void sync_file(const fs::path& path, const fs::path& named) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail_export(named, base::errno_text("open", errno));
  const int result = ::fsync(fd);
  const int error_number = errno;
  ::close(fd);
  if (result != 0) fail_export(named, base::errno_text("fsync", error_number));
}

/// Other writers come back in when it is destroyed.
class SharedAgain {
 public:
  explicit SharedAgain(LockFile& lock) : lock_(lock) {}
  SharedAgain(const SharedAgain&) = delete;
  SharedAgain& operator=(const SharedAgain&) = delete;
  ~SharedAgain() { (void)lock_.try_lock(LockFile::Part::InUse, LockFile::Share::Shared); }  // narrowing one's own succeeds

 private:
  LockFile& lock_;
};

/// problems and configurations: the key is the content key of the text, so it is its own checksum.
void check_texts(SQLite::Database& sqlite, const std::string& table, CheckReport& report) {
  SQLite::Statement rows(sqlite, "SELECT key, text FROM " + table + " ORDER BY key");
  while (rows.executeStep()) {
    ++report.rows_checked;
    const std::string key = rows.getColumn(0).getString();
    if (key == base::content_key(rows.getColumn(1).getString())) continue;
    ++report.bad_rows;
    report.problems.push_back(fmt::format("{} {}: the text does not match its key", table, key));
  }
}

void check_integrity(SQLite::Database& sqlite, CheckReport& report) {
  SQLite::Statement check(sqlite, "PRAGMA integrity_check");
  while (check.executeStep()) {
    const std::string line = check.getColumn(0).getString();
    if (line != "ok") report.problems.push_back("integrity_check: " + line);
  }
}

}  // namespace

Info Database::info() const {
  return state_->reading([&] {
    const auto count = [&](const std::string& table) {
      // Reads a column row by row: what counts pages alone cannot be stopped.
      const char* const column = table == "devices" ? "hard_key" : table == "templates" ? "hash" : "key";
      Use use(state_->statements.prepared(fmt::format("SELECT count({} || '') FROM {}", column, table)));
      return use.step() ? static_cast<std::uint64_t>(use.row().getColumn(0).getInt64()) : 0;
    };
    SQLite::Database& sqlite = *state_->connection.sqlite;
    Info info;
    info.path = state_->path.string();
    info.schema_version = read_identity(sqlite).user_version;
    info.devices = count("devices");
    info.templates = count("templates");
    info.problems = count("problems");
    info.records = count("records");
    info.best = count("best");
    info.cubins = count("cubins");
    info.sessions = count("sessions");
    info.bytes = bytes_of(state_->path) + bytes_of(info.path + "-wal");
    info.journal_mode = sqlite.execAndGet("PRAGMA journal_mode").getString();
    info.read_only = state_->mode == OpenMode::ReadOnly;
    return info;
  });
}

CheckReport Database::check() const {
  CheckReport report;
  // Damage that stops one part of the check is a finding; the other parts still run.
  const auto part = [&](const std::string& what, const auto& work) {
    try {
      state_->guard().watch("checking", work);
    } catch (const SQLite::Exception& error) {
      if (is_busy(error)) throw_sqlite_failure(state_->path, "checking it", error);  // says nothing of the file
      report.problems.push_back(fmt::format("{}: SQLite stopped: {}", what, error.what()));
    } catch (const DatabaseError& error) {
      report.problems.push_back(fmt::format("{}: {}", what, error.what()));
    }
  };
  const auto rows = [&]<class Row>(const Row&) {
    const std::string table = Table<Row>::kName;
    part(table, [&] {
      const auto good = [&](const Row&) { return ++report.rows_checked, true; };
      const auto bad = [&](const std::string& name) {
        ++report.rows_checked;
        ++report.bad_rows;
        report.problems.push_back(name + ": the row does not match its checksum");
      };
      state_->scan<Row>(state_->select_of<Row>() + Table<Row>::kOrder, {}, good, bad);
    });
  };
  SQLite::Database& sqlite = *state_->connection.sqlite;
  part("integrity_check", [&] { check_integrity(sqlite, report); });
  for (const char* table : {"problems", "configurations"}) part(table, [&] { check_texts(sqlite, table, report); });
  rows(DeviceRow{});
  rows(TemplateRow{});
  rows(TemplateFileRow{});
  rows(RecordRow{});
  rows(SessionRow{});
  rows(InFlightRow{});
  rows(BestRow{});
  rows(CubinRow{});
  report.ok = report.problems.empty();
  return report;
}

VacuumReport Database::vacuum(const KeepGoing& keep_going) {
  const auto refuse = [&](const char* why, ExitCode code) {
    const std::string message = fmt::format("failed vacuuming database '{}': {}", state_->path.string(), why);
    if (code == ExitCode::Database) throw DatabaseError(state_->path.string(), message);
    throw Error(message, code);
  };
  state_->require_writable("vacuuming");
  if (state_->batch != State::BatchState::None) refuse("a batch is open", ExitCode::Database);
  if (!state_->connection.in_use.try_lock(LockFile::Part::InUse, LockFile::Share::Alone)) {
    refuse("another process is writing to it; try again when that one has finished", ExitCode::Database);
  }
  const SharedAgain shared(state_->connection.in_use);
  SQLite::Database& sqlite = *state_->connection.sqlite;
  const auto bytes = [&] { return bytes_of(state_->path) + bytes_of(state_->path.string() + "-wal"); };
  VacuumReport report;
  report.bytes_before = bytes();
  const auto ask = [&] { return !keep_going || keep_going(); };
  const Guard::Without unlimited(state_->guard(), ask);
  try {
    sqlite.exec("VACUUM");
    // A reader that is in the middle of a query keeps the WAL; the next checkpoint empties it then.
    sqlite.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch (const SQLite::Exception& error) {
    if (!ask()) refuse("interrupted; the file is as it was", ExitCode::Interrupted);
    throw_sqlite_failure(state_->path, "vacuuming it", error);
  }
  report.bytes_after = bytes();
  return report;
}

void Database::keep_in_memory(int mebibytes) {
  state_->connection.sqlite->exec(fmt::format("PRAGMA cache_size = -{}", std::int64_t{mebibytes} * 1024));
}

void Database::export_to(const fs::path& path) const {
  std::error_code error;
  if (fs::exists(fs::symlink_status(path, error))) fail_export(path, "the file exists already; name a new one");
  const fs::path partial = fmt::format("{}.{}.new", path.string(), ::getpid());
  const Unfinished cleanup(partial);
  try {
    // VACUUM INTO sees one snapshot, the WAL included, and writes a compact rollback-mode file.
    state_->guard().begin("exporting");
    state_->statements.run("VACUUM INTO ?", partial.string());
    SQLite::Database copy(partial.string(), SQLite::OPEN_READWRITE);
    const std::string mode = copy.execAndGet("PRAGMA journal_mode = DELETE").getString();
    if (mode != "delete") fail_export(path, fmt::format("the copy stays in journal mode '{}'", mode));
  } catch (const SQLite::Exception& failure) {
    state_->note_damage(failure);
    state_->guard().explain_interruption("exporting");
    throw_sqlite_failure(path, "writing the copy", failure);
  }
  sync_file(partial, path);
  if (::rename(partial.c_str(), path.c_str()) != 0) fail_export(path, base::errno_text("rename", errno));
}

}  // namespace attune::db
