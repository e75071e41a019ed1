#pragma once
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tuner/base/file_descriptor.hpp"

namespace attune::base {

/// Why somebody other than this process's user could have decided what a path leads to, with the remedy; empty when nobody
/// could. What is loaded as code must come from a place of which this is empty.
///   - the file or folder itself belongs to the user, and neither its group nor others may write it;
///   - so does the folder of a file, or it is root's: SQLite takes a "-wal" beside a database for a part of it;
///   - every folder from "/" on is the user's or root's and not writable by others, unless it is sticky (as /tmp is) and what
///     the path names in it is a folder;
///   - every symbolic link on the way is the user's or root's, in a folder that others may not write at all, and what it leads
///     to satisfies the same (/home may be root's link to /data/home, ~/.cache the user's to another disk).
/// While this holds nobody else can change it, so that opening the file by its name afterwards opens what was judged.
/// A path that does not exist is somebody's who can create it: that counts as not private.
/// For a database, with the files beside it that SQLite takes for parts of it: its -wal, -shm and -journal.
[[nodiscard]] std::string why_not_private_database(const std::filesystem::path& path);
/// The same for what may also be root's, as installed programs are: the file and its folder belong to the user or to root, or to
/// `also`: whoever could replace the running program anyway.
[[nodiscard]] std::string why_not_trusted(const std::filesystem::path& path, uid_t also = 0);

enum class IfMissing { Leave, Create };

/// A folder on the way of a path, held by a descriptor (O_PATH): it stays this folder whatever is renamed.
struct WalkedFolder {
  FileDescriptor fd;
  struct stat status {};
  std::filesystem::path path;  ///< without links
};

/// Where a walk along a path ended.
struct Walked {
  WalkedFolder folder;    ///< the last one that was entered, which the path names or in which it names `name`
  std::string name;       ///< of what is no folder; empty when the path leads to `folder`
  struct stat status {};  ///< of what the path leads to
  std::string refusal;    ///< why others could have decided where the path leads
  std::string missing;    ///< what is not there, or why it cannot be looked at
  [[nodiscard]] bool arrived() const { return refusal.empty() && missing.empty(); }
  [[nodiscard]] std::filesystem::path path() const { return name.empty() ? folder.path : folder.path / name; }
};

/// Follows a path one name at a time, each by the descriptor of the folder before it and never through a link that others could
/// have made. Judges every folder that is passed, not what the path leads to. `Create`: missing folders are made, mode 0700.
[[nodiscard]] Walked walk_privately(const std::filesystem::path& path, IfMissing if_missing = IfMissing::Leave);

/// Why a file or folder of this status is others' or may be written by others, with the remedy; empty when it is the user's (or
/// root's) alone.
[[nodiscard]] std::string why_shared(const std::filesystem::path& path, const struct stat& status);

}  // namespace attune::base
