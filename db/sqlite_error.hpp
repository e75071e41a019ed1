#pragma once
#include <SQLiteCpp/Exception.h>

#include <filesystem>
#include <string>

#include "db/contents_error.hpp"

namespace attune::db {

/// The DatabaseError that tells what SQLite said: "failed <doing> in database '<path>': SQLite returned SQLITE_FULL
/// (database or disk is full); <remedy>". `doing` reads "storing a record", or has the
/// database as "it": "opening it for reading" gives "failed opening database '<path>' for reading: ...".
[[nodiscard]] DatabaseError sqlite_failure(const std::filesystem::path& path, const std::string& doing, const SQLite::Exception& error);

/// Throws that; where SQLite says that the file is damaged, as a ContentsError.
[[noreturn]] void throw_sqlite_failure(const std::filesystem::path& path, const std::string& doing, const SQLite::Exception& error);

/// Throws: DatabaseError, "failed opening database '<path>': <why>".
[[noreturn]] void fail_opening(const std::filesystem::path& path, const std::string& why);
/// The same, a ContentsError.
[[noreturn]] void refuse_contents(const std::filesystem::path& path, const std::string& why);

/// SQLite says that the file is damaged or no database at all.
[[nodiscard]] bool is_damage(const SQLite::Exception& error);

/// The same, of a statement of ours: none of them violates a constraint in a sound file.
[[nodiscard]] bool is_damage_met(const SQLite::Exception& error);

/// Another connection is in the way for now.
[[nodiscard]] bool is_busy(const SQLite::Exception& error);

/// What to do about a place that cannot be written.
inline constexpr const char* kOtherFileRemedy = "name a writable file with ATTUNE_DB or --db";

}  // namespace attune::db
