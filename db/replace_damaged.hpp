#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "db/lock_file.hpp"

namespace attune::db {

/// Fills a new file with what can be read of a damaged one, then sets the damaged one aside as "<path>.corrupt-<UTC>", with what
/// belongs to it, and gives the new one its name. The new file is "<path>.salvaged" before that; the lock file notes which file that
/// is and whether it is whole, so that whatever ends the process, the next one that opens the database goes on: a file that is not whole is
/// removed, to one that is the damaged one gives way. What else has this name is somebody's.
///
/// `fill(damaged, fresh)` fills the empty file `fresh`, complete in one file, and returns how many rows it has. Returns the notice.
/// Requires: the opening lock. Throws: DatabaseError (another process uses the database, something else has one of these names), what
/// `fill` throws; the damaged file is where it was then.
[[nodiscard]] std::string replace_damaged(
    const std::filesystem::path& path, LockFile& lock, const std::string& damage,
    const std::function<std::uint64_t(const std::filesystem::path& damaged, const std::filesystem::path& fresh)>& fill);

/// Ends what a process that died in replace_damaged began. Returns a notice, empty when there was nothing to do.
/// Requires: the opening lock. Throws: DatabaseError.
[[nodiscard]] std::string finish_replacing(const std::filesystem::path& path, LockFile& lock);

}  // namespace attune::db
