#pragma once
#include <filesystem>
#include <string>

#include "db/database.hpp"

namespace attune::db {

/// Copies every row that can be read from a damaged file, which was set aside for `damage`, into `database`: rows have
/// checksums, so what is copied is what was stored. The file stays. Returns the notice that says all of it.
/// Throws: DatabaseError when `database` cannot be written; nothing has been copied then.
[[nodiscard]] std::string salvage(Database& database, const std::filesystem::path& aside, const std::string& damage);

}  // namespace attune::db
