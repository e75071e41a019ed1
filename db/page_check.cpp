#include "db/page_check.hpp"

#include <SQLiteCpp/Statement.h>
#include <fcntl.h>
#include <unistd.h>

#include <system_error>

namespace attune::db {
namespace {

namespace fs = std::filesystem;

std::string mark_of(const fs::path& path) { return path.string() + ".suspect"; }

bool is_large(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(path, error);
  return !error && bytes > kWholeCheckBytes;
}

/// `what`: empty, or "('table')".
std::string first_damage(SQLite::Database& sqlite, const std::string& what) {
  SQLite::Statement check(sqlite, "PRAGMA quick_check" + what);
  while (check.executeStep()) {
    // Damage of pages comes under this heading; what else there may be is about values of single rows, which have
    // checksums: no reason to give up the file.
    const std::string line = check.getColumn(0).getString();
    if (line.starts_with("*** in database")) return line.substr(line.find('\n') + 1);
  }
  return {};
}

}  // namespace

std::string page_damage(SQLite::Database& sqlite, const fs::path& path) {
  const bool suspect = ::access(mark_of(path).c_str(), F_OK) == 0;
  if (suspect || !is_large(path)) {
    std::string damage = first_damage(sqlite, "(1)");
    if (damage.empty() && suspect) remove_suspect_mark(path);
    return damage;
  }
  // Opening has compared the file's length with its header. These tables have few rows, and every run reads them.
  for (const char* table : {"schema_version", "devices", "templates", "in_flight"}) {
    std::string damage = first_damage(sqlite, std::string("('") + table + "')");
    if (!damage.empty()) return damage;
  }
  return {};
}

void mark_suspect(const fs::path& path) noexcept {
  const int fd = ::open(mark_of(path).c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd >= 0) ::close(fd);
}

void remove_suspect_mark(const fs::path& path) noexcept { ::unlink(mark_of(path).c_str()); }

}  // namespace attune::db
