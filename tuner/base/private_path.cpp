#include "tuner/base/private_path.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <limits.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <system_error>
#include <utility>

#include "tuner/base/errno_text.hpp"

namespace attune::base {
namespace {

namespace fs = std::filesystem;
using Status = struct stat;

/// Whom the target itself may belong to.
enum class Owner { User, UserOrRoot };

constexpr int kMostLinks = 40;  // as the kernel allows

bool is_trusted_owner(const Status& status, uid_t also) {
  return status.st_uid == ::geteuid() || status.st_uid == 0 || status.st_uid == also;
}

// An ACL that lets somebody else write shows in the group's bits as well (acl(5)): they are its mask then.
bool written_by_others(const Status& status) { return (status.st_mode & (S_IWGRP | S_IWOTH)) != 0; }

/// In a sticky folder nobody renames or removes what is another's.
bool is_sticky(const Status& status) { return (status.st_mode & S_ISVTX) != 0; }

const char* kind_of(const Status& status) {
  if (S_ISDIR(status.st_mode)) return "the folder";
  return S_ISLNK(status.st_mode) ? "the symbolic link" : "the file";
}

std::string foreign(const fs::path& path, const Status& status) {
  return fmt::format("{} '{}' belongs to uid {}, not to uid {}; give it to that user with chown, or remove it", kind_of(status),
                     path.string(), status.st_uid, ::geteuid());
}

std::string writable(const fs::path& path, const Status& status) {
  return fmt::format("{} '{}' can be written by others (mode {:04o}); run: chmod go-w '{}'", kind_of(status), path.string(),
                     status.st_mode & 07777u, path.string());
}

std::string failed(const char* call, int error, const fs::path& path) { return errno_text(call, error) + " for '" + path.string() + "'"; }

class Walk {
 public:
  Walk(IfMissing if_missing, uid_t also) : if_missing_(if_missing), also_(also) {}

  Walked run(const fs::path& path) {
    if (start(path)) {
      while (!rest_.empty() && walked_.arrived() && walked_.name.empty()) step();
    }
    if (walked_.name.empty()) walked_.status = walked_.folder.status;
    return std::move(walked_);
  }

 private:
  /// At the root, with the names of the absolute path to go.
  bool start(const fs::path& path) {
    std::error_code error;
    const fs::path absolute = fs::absolute(path, error);
    if (error) walked_.missing = errno_text("getcwd", error.value());
    if (error || !go_to_root()) return false;
    put_in_front(absolute);
    // Naming something in a folder that is mounted on demand mounts it; opening it with O_PATH does not.
    Status ignored{};
    (void)::stat(absolute.c_str(), &ignored);
    return true;
  }

  void put_in_front(const fs::path& path) {
    std::deque<std::string> parts;
    for (const fs::path& part : path.relative_path()) {
      if (!part.empty() && part != ".") parts.push_back(part.string());
    }
    rest_.insert(rest_.begin(), parts.begin(), parts.end());
  }

  bool go_to_root() { return enter(FileDescriptor(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)), "/"); }

  bool enter(FileDescriptor fd, const fs::path& path) {
    Status status{};
    if (!fd.open() || ::fstat(fd.get(), &status) != 0) {
      walked_.missing = failed("open", errno, path);
      return false;
    }
    walked_.folder = {std::move(fd), status, path};
    return true;
  }

  /// Before a name is looked up in it. A sticky folder that others may write is passed for the sake of folders alone.
  bool passable() {
    const WalkedFolder& here = walked_.folder;
    if (!is_trusted_owner(here.status, also_)) walked_.refusal = foreign(here.path, here.status);
    if (written_by_others(here.status) && !is_sticky(here.status)) walked_.refusal = writable(here.path, here.status);
    return walked_.refusal.empty();
  }

  void step() {
    if (!passable()) return;
    const std::string name = rest_.front();
    rest_.pop_front();
    const fs::path path = name == ".." ? walked_.folder.path.parent_path() : walked_.folder.path / name;
    FileDescriptor fd = look_up(name);
    Status status{};
    if (!fd.open() || ::fstat(fd.get(), &status) != 0) {
      walked_.missing = failed("open", errno, path);
    } else if (S_ISLNK(status.st_mode)) {
      follow(fd, status, path);
    } else if (S_ISDIR(status.st_mode)) {
      (void)enter(std::move(fd), path);
    } else if (!rest_.empty()) {
      walked_.missing = failed("open", ENOTDIR, path);
    } else {
      walked_.name = name;
      walked_.status = status;
    }
  }

  FileDescriptor look_up(const std::string& name) const {
    constexpr int kLook = O_PATH | O_NOFOLLOW | O_CLOEXEC;
    const int here = walked_.folder.fd.get();
    FileDescriptor fd(::openat(here, name.c_str(), kLook));
    if (fd.open() || errno != ENOENT || if_missing_ == IfMissing::Leave) return fd;
    // Whoever else makes it at this moment: what is there then is judged like any other folder.
    if (::mkdirat(here, name.c_str(), 0700) != 0 && errno != EEXIST) return fd;
    return FileDescriptor(::openat(here, name.c_str(), kLook));
  }

  void follow(const FileDescriptor& link, const Status& status, const fs::path& path) {
    if (!is_trusted_owner(status, also_)) {
      walked_.refusal = foreign(path, status);
    } else if (written_by_others(walked_.folder.status)) {  // sticky or not: a hard link to a link keeps its owner
      walked_.refusal = fmt::format("the symbolic link '{}' lies in a folder that can be written by others; name what it leads to instead",
                                    path.string());
    } else if (++links_ > kMostLinks) {
      walked_.missing = "too many symbolic links at '" + path.string() + "'";
    } else {
      char target[PATH_MAX];
      const ssize_t length = ::readlinkat(link.get(), "", target, sizeof target);
      if (length <= 0) {
        walked_.missing = failed("readlink", errno, path);
        return;
      }
      const fs::path to(std::string(target, static_cast<std::size_t>(length)));
      if (to.is_absolute() && !go_to_root()) return;
      put_in_front(to);
    }
  }

  IfMissing if_missing_;
  uid_t also_;  ///< whose folders and links are trusted besides the user's and root's
  Walked walked_;
  std::deque<std::string> rest_;
  int links_ = 0;
};

std::string why_shared(const fs::path& path, const Status& status, uid_t also) {
  if (!is_trusted_owner(status, also)) return foreign(path, status);
  return written_by_others(status) ? writable(path, status) : std::string();
}

/// What the path leads to.
std::string judge_target(const Walked& walked, Owner owner, uid_t also) {
  const bool owned = owner == Owner::User ? walked.status.st_uid == ::geteuid() : is_trusted_owner(walked.status, also);
  if (!owned) return foreign(walked.path(), walked.status);
  if (written_by_others(walked.status)) return writable(walked.path(), walked.status);
  return walked.name.empty() ? std::string() : why_shared(walked.folder.path, walked.folder.status, also);
}

std::string judge(const Walked& walked, Owner owner, uid_t also) {
  if (!walked.refusal.empty()) return walked.refusal;
  return walked.missing.empty() ? judge_target(walked, owner, also) : walked.missing;
}

}  // namespace

Walked walk_privately(const fs::path& path, IfMissing if_missing) { return Walk(if_missing, 0).run(path); }

std::string why_shared(const fs::path& path, const Status& status) { return why_shared(path, status, 0); }

std::string why_not_trusted(const fs::path& path, uid_t also) {
  return judge(Walk(IfMissing::Leave, also).run(path), Owner::UserOrRoot, also);
}

std::string why_not_private_database(const fs::path& path) {
  const Walked walked = walk_privately(path);
  std::string reason = judge(walked, Owner::User, 0);
  for (const char* const suffix : {"-wal", "-shm", "-journal"}) {
    Status status{};
    const std::string beside = walked.name + suffix;
    const bool there =
        reason.empty() && !walked.name.empty() && ::fstatat(walked.folder.fd.get(), beside.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
    if (there && S_ISLNK(status.st_mode)) {
      reason = fmt::format("the file '{}' is a symbolic link; remove it", (walked.folder.path / beside).string());
    } else if (there) {
      reason = why_shared(walked.folder.path / beside, status);
    }
  }
  return reason;
}

}  // namespace attune::base
