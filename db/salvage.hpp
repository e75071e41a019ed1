#pragma once
#include <cstdint>
#include <filesystem>

#include "db/database.hpp"

namespace attune::db {

/// Copies every row that can be read from a damaged file, which stays as it is, into `database`: rows have checksums, so what
/// is copied is what was stored. Returns how many; 0 also where not even the schema can be read.
/// Throws: DatabaseError when `database` cannot be written, or memory, descriptors or the disk fail what could be read otherwise; Error (ExitCode::Interrupted); nothing has been copied then.
[[nodiscard]] std::uint64_t salvage(Database& database, const std::filesystem::path& damaged, const KeepGoing& keep_going);

}  // namespace attune::db
