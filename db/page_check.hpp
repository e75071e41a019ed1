#pragma once
#include <SQLiteCpp/Database.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace attune::db {

/// Up to here a writer checks every page of a file when it opens it: tens of milliseconds. Reading ten gigabytes would
/// take a minute, for a tuning run that needs a few rows.
inline constexpr std::uint64_t kWholeCheckBytes = std::uint64_t{64} << 20;

/// What is wrong with the pages of the database, in SQLite's words; empty when nothing was found. A file above
/// kWholeCheckBytes is checked wholly only when it is suspect (`mark_suspect`), else what every run reads: header, length,
/// schema and the small tables; damage elsewhere in it is found when it is met. Takes a mark away that proved wrong.
/// Throws: SQLite::Exception.
[[nodiscard]] std::string page_damage(SQLite::Database& sqlite, const std::filesystem::path& path);

/// Leaves "<database>.suspect" beside a database in which a writer has met damage, so that the next one to open it for
/// writing checks every page and sets the file aside. Best effort: what was met is an error that is told anyway.
void mark_suspect(const std::filesystem::path& path) noexcept;

/// The mark of a file that is there no longer. Nothing happens without one.
void remove_suspect_mark(const std::filesystem::path& path) noexcept;

}  // namespace attune::db
