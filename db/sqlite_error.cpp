#include "db/sqlite_error.hpp"

#include <fmt/core.h>
#include <sqlite3.h>

#include <cerrno>

#include "tuner/base/errno_text.hpp"
#include "tuner/base/standard_descriptors.hpp"

namespace attune::db {
namespace {

/// Extended codes are told as their primary code: SQLite's own message carries the rest.
int primary_code(const SQLite::Exception& error) { return error.getErrorCode() & 0xff; }

const char* code_name(int primary) {
  switch (primary) {
    case SQLITE_ERROR:
      return "SQLITE_ERROR";
    case SQLITE_PERM:
      return "SQLITE_PERM";
    case SQLITE_BUSY:
      return "SQLITE_BUSY";
    case SQLITE_LOCKED:
      return "SQLITE_LOCKED";
    case SQLITE_NOMEM:
      return "SQLITE_NOMEM";
    case SQLITE_READONLY:
      return "SQLITE_READONLY";
    case SQLITE_IOERR:
      return "SQLITE_IOERR";
    case SQLITE_CORRUPT:
      return "SQLITE_CORRUPT";
    case SQLITE_FULL:
      return "SQLITE_FULL";
    case SQLITE_CANTOPEN:
      return "SQLITE_CANTOPEN";
    case SQLITE_PROTOCOL:
      return "SQLITE_PROTOCOL";
    case SQLITE_TOOBIG:
      return "SQLITE_TOOBIG";
    case SQLITE_CONSTRAINT:
      return "SQLITE_CONSTRAINT";
    case SQLITE_NOTADB:
      return "SQLITE_NOTADB";
    case SQLITE_INTERRUPT:
      return "SQLITE_INTERRUPT";
    default:
      return nullptr;
  }
}

const char* remedy(int primary) {
  switch (primary) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return "; another process keeps it locked: try again when that one has finished";
    case SQLITE_IOERR:
    case SQLITE_FULL:
      return "; nothing of this transaction was stored: free disk space or name another file with ATTUNE_DB or --db";
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
      return "; name a writable file with ATTUNE_DB or --db";
    case SQLITE_CORRUPT:
      return "; the next tuning run mends the file, or sets it aside and keeps what can be read of it (`attune db check` tells what is damaged in a file that can be opened)";
    case SQLITE_NOTADB:
      return "; name another file with ATTUNE_DB or --db";
    case SQLITE_NOMEM:
      return "; raise the limit (ulimit -v), or end other programs";
    default:
      return "";
  }
}

/// "opening it for reading" with the database's name for "it", or "storing a record in database '<path>'".
std::string named(const std::string& doing, const std::filesystem::path& path) {
  const std::string database = fmt::format("database '{}'", path.string());
  const std::string padded = doing + " ";
  const std::size_t at = padded.find(" it ");
  if (at == std::string::npos) return doing + " in " + database;
  return std::string(doing).replace(at + 1, 2, database);
}

}  // namespace

DatabaseError sqlite_failure(const std::filesystem::path& path, const std::string& doing, const SQLite::Exception& error) {
  const int primary = primary_code(error);
  const char* const name = code_name(primary);
  const std::string code = name != nullptr ? std::string(name) : fmt::format("code {}", error.getErrorCode());
  const std::string advice = primary == SQLITE_CANTOPEN && base::few_descriptors_left() ? base::errno_remedy(EMFILE) : remedy(primary);
  return {path.string(), fmt::format("failed {}: SQLite returned {} ({}){}", named(doing, path), code, error.what(), advice)};
}

void throw_sqlite_failure(const std::filesystem::path& path, const std::string& doing, const SQLite::Exception& error) {
  const DatabaseError failure = sqlite_failure(path, doing, error);
  if (is_damage(error)) throw ContentsError(failure.path(), failure.what());
  throw failure;
}

void fail_opening(const std::filesystem::path& path, const std::string& why) {
  throw DatabaseError(path.string(), fmt::format("failed opening database '{}': {}", path.string(), why));
}

void refuse_contents(const std::filesystem::path& path, const std::string& why) {
  throw ContentsError(path.string(), fmt::format("failed opening database '{}': {}", path.string(), why));
}

bool is_damage(const SQLite::Exception& error) {
  const int primary = primary_code(error);
  return primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB;
}

bool is_damage_met(const SQLite::Exception& error) { return is_damage(error) || primary_code(error) == SQLITE_CONSTRAINT; }

bool is_busy(const SQLite::Exception& error) {
  const int primary = primary_code(error);
  return primary == SQLITE_BUSY || primary == SQLITE_LOCKED || primary == SQLITE_PROTOCOL;
}

}  // namespace attune::db
