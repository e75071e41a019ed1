#pragma once
#include <filesystem>

namespace attune::db {

/// SQLite keeps files of its own beside a database: "-wal", "-journal", "-shm". It finds them by name, and writes to them and
/// removes them as it sees fit. Refuses what would harm somebody else's file: one that is no regular file (a link leads
/// anywhere) or has other names (the lock file as well); a WAL or journal beside a database that is not there yet, whose remains SQLite would take them for; a journal
/// that names a second file, which SQLite would remove after playing it back. No writer of ours makes any of these.
/// Throws: DatabaseError; nothing has been changed.
void refuse_foreign_companions(const std::filesystem::path& path);

}  // namespace attune::db
