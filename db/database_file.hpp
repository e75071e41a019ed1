#pragma once
#include <SQLiteCpp/Database.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "db/lock_file.hpp"

namespace attune::db {

/// "ATUN", in the header of every database of ours.
inline constexpr std::int32_t kApplicationId = 0x4154554E;

/// How long a writer waits for another one before it gives up.
inline constexpr int kBusyTimeoutMs = 30000;

/// An opened file; of the current schema version when it is open for writing.
struct Connection {
  std::unique_ptr<SQLite::Database> sqlite;
  LockFile in_use;  ///< writers only
  std::vector<std::string> notices;
};

/// Creates the folder (0700) and file where missing, migrates, switches to WAL, on a network file system to a rollback
/// journal with a notice; a file that SQLite calls damaged is renamed to "<path>.corrupt-<UTC>" and replaced by a new
/// one. All under the lock file.
/// Throws: DatabaseError: unwritable, of a newer schema or of another program (both left byte-identical), damaged and
/// in use by another process.
[[nodiscard]] Connection open_for_writing(const std::filesystem::path& path);

/// Stores nothing. Every released schema version is read; tables that it lacks are empty. Where no -shm file can be made
/// (a folder that cannot be written, a full disk, WAL on a network file system) file and WAL are read as unchanging, with
/// a notice. Throws: DatabaseError: missing, damaged, of a newer schema or of another program.
[[nodiscard]] Connection open_for_reading(const std::filesystem::path& path);

}  // namespace attune::db
