#pragma once
#include <SQLiteCpp/Database.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace attune::db {

/// Up to here a writer checks every page and every index of a file when it opens it: 4 ms a MiB. Reading ten gigabytes would
/// take a minute, for a tuning run that needs a few rows.
inline constexpr std::uint64_t kWholeCheckBytes = std::uint64_t{64} << 20;
/// For tests: what is done with large files is done with those above `bytes` in this process.
void check_wholly_up_to(std::uint64_t bytes);

/// What a writer finds when it opens a file.
struct PageFinding {
  std::string damage;         ///< in SQLite's words; empty when the file can be used
  std::uint64_t rebuilt = 0;  ///< indexes that were made anew, because only they were damaged
};

/// Checks the database. Where only indexes are damaged they are made anew from the tables. A file above kWholeCheckBytes is
/// checked wholly only when it is suspect (`mark_suspect`), else what every run reads: header, length, schema and the small
/// tables; damage elsewhere in it is found when it is met. Of a suspect file every row is read as well, and its indexes are
/// made anew in any case: what a query has met is believed more than a check that finds nothing. Only then its mark goes.
/// Requires: the opening lock; the schema is one of ours. Throws: SQLite::Exception.
[[nodiscard]] PageFinding check_pages(SQLite::Database& sqlite, const std::filesystem::path& path);

/// Leaves "<database>.suspect" beside a database in which a writer has met damage, so that the next one to open it for
/// writing mends it or sets it aside. Best effort: what was met is an error that is told anyway.
void mark_suspect(const std::filesystem::path& path) noexcept;

/// The mark of a file that is there no longer. Nothing happens without one.
void remove_suspect_mark(const std::filesystem::path& path) noexcept;

}  // namespace attune::db
