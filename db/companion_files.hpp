#pragma once
#include <filesystem>

namespace attune::db {

/// SQLite keeps files of its own beside a database: "-wal", "-journal", "-shm". It finds them by name, and writes to them and
/// removes them as it sees fit. Refuses what would harm somebody else's file: one that is no regular file (a link leads
/// anywhere) or has other names (the lock file as well); a WAL beside a database that is not there yet, whose remains SQLite would take it
/// for; a journal that does not begin as one, or that names a second file, which SQLite would remove after playing it back. No writer of
/// ours makes any of these. Throws: DatabaseError; nothing has been changed.
void refuse_foreign_companions(const std::filesystem::path& path);

/// Refuses, for a file that is to be written, a name that belongs to another database's files ("a.db-wal"), or is too long for those of its
/// own, a lock file that is none of ours, a WAL that does not begin as one, which SQLite would empty, and a file with other names (hard
/// links): each has a WAL and a lock of its own, and writers of two of them destroy it. Throws: DatabaseError; nothing has been changed.
void refuse_unsafe_files(const std::filesystem::path& path);

/// Reading a database that could not be written leaves companions behind that cannot be either: SQLite makes them with its mode. Gives them
/// the mode that the database has now. Throws: DatabaseError where that is not ours to do.
void let_companions_be_written(const std::filesystem::path& path);

}  // namespace attune::db
