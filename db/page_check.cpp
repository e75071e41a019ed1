#include "db/page_check.hpp"

#include <SQLiteCpp/Statement.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <system_error>
#include <utility>
#include <vector>

#include "db/sqlite_error.hpp"
#include "tuner/base/hash.hpp"

namespace attune::db {
namespace {

namespace fs = std::filesystem;

std::uint64_t whole_check_bytes = kWholeCheckBytes;

std::string mark_of(const fs::path& path) { return path.string() + ".suspect"; }

bool is_large(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(path, error);
  return !error && bytes > whole_check_bytes;
}

struct Damage {
  enum class Kind { None, Index, Pages };
  Kind kind = Kind::None;
  std::string line;  ///< SQLite's
};

/// Damage of pages comes under a heading, and of an index as a sentence about it. Whatever else is told is about a table: rows out
/// of their order, which no search finds; values of a type that the column does not have; a walk that ended.
Damage damage_in(const std::string& line) {
  if (line == "ok") return {};
  if (line.starts_with("*** in database")) {
    const std::size_t begin = line.find('\n') + 1;
    return {Damage::Kind::Pages, line.substr(begin, line.find('\n', begin) - begin)};  // the first of up to a hundred
  }
  for (const char* part : {"missing from index", "entries in index", "non-unique entry in index", "values differ from index"}) {
    if (line.find(part) != std::string::npos) return {Damage::Kind::Index, line};
  }
  return {Damage::Kind::Pages, line};
}

/// `pragma`: "integrity_check", or "quick_check('table')". Pages come before anything else.
Damage first_damage(SQLite::Database& sqlite, const std::string& pragma) {
  SQLite::Statement check(sqlite, "PRAGMA " + pragma);
  Damage first;
  while (first.kind == Damage::Kind::None && check.executeStep()) first = damage_in(check.getColumn(0).getString());
  return first;
}

std::uint64_t rebuild_indexes(SQLite::Database& sqlite) {
  sqlite.exec("REINDEX");
  return static_cast<std::uint64_t>(sqlite.execAndGet("SELECT count(*) FROM sqlite_master WHERE type = 'index'").getInt64());
}

/// Reads every column of every row. No check of SQLite's does: a row whose header is damaged passes them all, and stops every
/// query that meets it. Throws: SQLite::Exception.
void read_everything(SQLite::Database& sqlite) {
  std::vector<std::string> tables;
  SQLite::Statement names(sqlite, "SELECT name FROM sqlite_master WHERE type = 'table'");
  while (names.executeStep()) tables.push_back(names.getColumn(0).getString());
  for (const std::string& table : tables) {
    SQLite::Statement rows(sqlite, "SELECT * FROM " + table);
    while (rows.executeStep()) {
    }
  }
}

/// A text that is not under the key of its content, which hides every row that names it; empty when there is none. To SQLite such a
/// key is as good as any. Throws: SQLite::Exception.
std::string misplaced_text(SQLite::Database& sqlite) {
  for (const char* table : {"problems", "configurations"}) {
    if (!sqlite.tableExists(table)) continue;  // a file that is just being made
    SQLite::Statement rows(sqlite, fmt::format("SELECT key, text FROM {}", table));
    while (rows.executeStep()) {
      if (base::content_key(rows.getColumn(1).getString()) != rows.getColumn(0).getString())
        return fmt::format("a text of the table {} is not under its key", table);
    }
  }
  return {};
}

/// Mended, or the damage that stays. An index whose pages cannot even be given back is damage that stays.
PageFinding mend(SQLite::Database& sqlite) {
  PageFinding finding;
  try {
    read_everything(sqlite);
    finding.rebuilt = rebuild_indexes(sqlite);
  } catch (const SQLite::Exception& error) {
    const int primary = error.getErrorCode() & 0xff;
    // A table with two rows of one key cannot have its unique index.
    if (!is_damage(error) && primary != SQLITE_CONSTRAINT) throw;
    finding.damage = error.what();
    return finding;
  }
  finding.damage = first_damage(sqlite, "integrity_check").line;
  return finding;
}

}  // namespace

PageFinding check_pages(SQLite::Database& sqlite, const fs::path& path) {
  const bool suspect = ::access(mark_of(path).c_str(), F_OK) == 0;
  if (suspect || !is_large(path)) {
    const Damage damage = first_damage(sqlite, "integrity_check");
    PageFinding finding{damage.kind == Damage::Kind::Pages ? damage.line : std::string(), 0};
    if (finding.damage.empty() && (suspect || damage.kind == Damage::Kind::Index)) finding = mend(sqlite);
    if (finding.damage.empty()) finding.damage = misplaced_text(sqlite);
    if (damage.kind == Damage::Kind::None) finding.rebuilt = 0;  // to be sure, and nothing to tell
    if (finding.damage.empty() && suspect) remove_suspect_mark(path);
    return finding;
  }
  // Opening has compared the file's length with its header. These tables have few rows, and every run reads them.
  for (const char* table : {"schema_version", "devices", "templates", "in_flight"}) {
    Damage damage = first_damage(sqlite, std::string("quick_check('") + table + "')");
    if (damage.kind != Damage::Kind::None) return {std::move(damage.line), 0};
  }
  return {};
}

void check_wholly_up_to(std::uint64_t bytes) { whole_check_bytes = bytes; }

void mark_suspect(const fs::path& path) noexcept {
  const int fd = ::open(mark_of(path).c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
                        0600);  // a pipe of this name would wait for a reader
  if (fd >= 0) ::close(fd);
}

void remove_suspect_mark(const fs::path& path) noexcept {
  struct stat status {};
  const std::string mark = mark_of(path);
  // A mark is an empty file; what else has this name is somebody's.
  if (::lstat(mark.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0) ::unlink(mark.c_str());
}

}  // namespace attune::db
