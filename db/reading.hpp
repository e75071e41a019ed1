#pragma once
#include <SQLiteCpp/Database.h>

#include <filesystem>
#include <memory>

#include "db/database_file.hpp"

namespace attune::db {

[[nodiscard]] bool is_present(const std::filesystem::path& path);
[[nodiscard]] bool is_folder(const std::filesystem::path& path);
[[nodiscard]] bool has_bytes(const std::filesystem::path& path);
/// "<path>-wal" and the like.
[[nodiscard]] std::filesystem::path beside(const std::filesystem::path& path, const char* suffix);
/// The header says WAL. A new or unreadable file does not.
[[nodiscard]] bool is_wal_file(const std::filesystem::path& path);

/// Reads the file and its WAL without changing, creating or locking anything, the -shm file included. What another
/// process stores at the same time may be missed, or be seen in part: rows have checksums, and what SQLite takes for
/// damage it says. Throws: SQLite::Exception.
[[nodiscard]] std::unique_ptr<SQLite::Database> open_untouched(const std::filesystem::path& path);

/// Refuses what lies beside a database and is none of its own (db/companion_files.hpp), and what is no database, or one of a newer schema,
/// of another program or with objects that are not ours, before anything opens it in a way that leaves traces: even a connection that only
/// reads creates a WAL file. Says nothing about damage of a file that its header calls ours: what follows meets it. Throws: DatabaseError.
void refuse_foreign(const std::filesystem::path& path, const KeepGoing& keep_going);

}  // namespace attune::db
