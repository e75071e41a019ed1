#pragma once
#include <SQLiteCpp/Database.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "db/guard.hpp"
#include "db/lock_file.hpp"

namespace attune::db {

/// "ATUN", in the header of every database of ours.
inline constexpr std::int32_t kApplicationId = 0x4154554E;

/// How long a writer waits for another one before it gives up.
inline constexpr int kBusyTimeoutMs = 30000;

/// An opened file; of the current schema version when it is open for writing.
struct Connection {
  std::unique_ptr<SQLite::Database> sqlite;
  std::unique_ptr<Guard> guard;  ///< of sqlite
  LockFile in_use;               ///< writers only
  std::vector<std::string> notices;
  std::filesystem::path aside;  ///< the damaged file whose place this one took; empty when none was
  std::string damage;           ///< of that file
};

/// Creates the folder (0700) and file where missing, migrates, switches to WAL, on a network file system to a rollback
/// journal with a notice. Where only indexes are damaged they are made anew, with a notice; a database of ours that is damaged
/// otherwise is renamed to "<path>.corrupt-<UTC>" and replaced by a new one, which the caller fills with what can be read
/// of the old one (db/salvage.hpp). All under the lock file.
/// Throws: DatabaseError: unwritable; no database, of a newer schema, of another program or with objects that are not ours (all
/// left byte-identical); damaged and in use by another process. Error (ExitCode::Interrupted) when `keep_going` says false.
[[nodiscard]] Connection open_for_writing(const std::filesystem::path& path, const KeepGoing& keep_going);

/// Stores nothing. Every released schema version is read; tables that it lacks are empty. Where no -shm file can be made
/// (a folder that cannot be written, a full disk, WAL on a network file system) file and WAL are read as unchanging, with
/// a notice. Throws: DatabaseError: missing, damaged, of a newer schema or of another program.
[[nodiscard]] Connection open_for_reading(const std::filesystem::path& path, const KeepGoing& keep_going);

}  // namespace attune::db
