#pragma once
#include <SQLiteCpp/Database.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "db/guard.hpp"
#include "db/lock_file.hpp"

namespace attune::db {

/// "ATUN", in the header of every database of ours.
inline constexpr std::int32_t kApplicationId = 0x4154554E;

/// An opened file; of the current schema version when it is open for writing.
struct Connection {
  LockFile in_use;  ///< writers only; before the others: what SQLite does on closing is done under it
  std::unique_ptr<SQLite::Database> sqlite;
  std::unique_ptr<Guard> guard;  ///< of sqlite
  int schema_version = 0;        ///< a writer's is the newest
  std::vector<std::string> notices;
};

/// Makes the database `fresh`, complete in one file, and copies into it what can be read of `damaged`; returns how many rows.
using Salvager =
    std::function<std::uint64_t(const std::filesystem::path& damaged, const std::filesystem::path& fresh, const KeepGoing& keep_going)>;

/// Creates the folder (0700) and file where missing, migrates, switches to WAL, on a network file system to a rollback
/// journal with a notice. Where only indexes are damaged they are made anew, with a notice; a database of ours that is damaged
/// otherwise is renamed to "<path>.corrupt-<UTC>", with a notice, once `salvage` has filled a new one with what can be read of
/// it: whatever ends the process, one of the two is there. All under the lock file. Without `salvage` the file is one that this process
/// has just made itself, under a name that nobody else may give a database.
/// Throws: DatabaseError: unwritable; no database, of a newer schema, of another program or with objects that are not ours (all
/// left byte-identical); damaged and in use by another process. Error (ExitCode::Interrupted) when `keep_going` says false.
[[nodiscard]] Connection open_for_writing(const std::filesystem::path& path, const KeepGoing& keep_going, const Salvager& salvage);

/// Stores nothing. Every released schema version is read; tables that it lacks are empty. Where no -shm file can be made
/// (a folder that cannot be written, a full disk, WAL on a network file system) file and WAL are read as unchanging, with
/// a notice. Throws: DatabaseError: missing, damaged, of a newer schema or of another program.
[[nodiscard]] Connection open_for_reading(const std::filesystem::path& path, const KeepGoing& keep_going);

}  // namespace attune::db
