#pragma once
#include <cstdint>
#include <filesystem>

#include "db/database.hpp"

namespace attune::db {

/// Copies every row that can be read from a damaged file, which stays as it is, into `database`: rows have checksums, so what
/// is copied is what was stored. Returns how many. Takes temporary disk space of about the file's size, when that is over 64 MiB.
/// Throws: DatabaseError when `database` cannot be written, when memory, descriptors or a disk fail what could be read otherwise, or
/// when reading takes longer than for any sound file of this size; Error (ExitCode::Interrupted). `database` is of no use then.
[[nodiscard]] std::uint64_t salvage(Database& database, const std::filesystem::path& damaged, const KeepGoing& keep_going);

}  // namespace attune::db
