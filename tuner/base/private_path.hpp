#pragma once
#include <filesystem>
#include <string>

namespace attune::base {

/// Why somebody other than this process's user could have decided what a path leads to; empty when nobody could. What is
/// loaded as code must come from a place of which this is empty.
///   - the file or folder itself belongs to the user, and neither its group nor others may write it;
///   - so does the folder of a file, or it is root's: SQLite takes a "-wal" beside a database for a part of it;
///   - every folder above is the user's or root's, and not writable by everybody unless sticky (as /tmp is);
///   - every symbolic link on the way is the user's or root's, and what it leads to satisfies the same.
/// A path that does not exist is somebody's who can create it: that counts as not private.
[[nodiscard]] std::string why_not_private(const std::filesystem::path& path);
/// The same for what may also be root's, as installed programs are: the file and its folder belong to the user or to root.
[[nodiscard]] std::string why_not_trusted(const std::filesystem::path& path);

}  // namespace attune::base
