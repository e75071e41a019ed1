#include "tuner/base/private_path.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <system_error>

#include "tuner/base/errno_text.hpp"

namespace attune::base {
namespace {

namespace fs = std::filesystem;
using Status = struct stat;

/// Whom the target itself may belong to.
enum class Owner { User, UserOrRoot };

constexpr int kMostLinks = 40;  // as the kernel allows

bool is_trusted_owner(const Status& status) { return status.st_uid == ::geteuid() || status.st_uid == 0; }

std::string foreign(const fs::path& path, const Status& status, const char* what) {
  return fmt::format("{} '{}' belongs to uid {}, not to uid {}", what, path.string(), status.st_uid, ::geteuid());
}

std::string writable(const fs::path& path, const Status& status, const char* what) {
  return fmt::format("{} '{}' can be written by others (mode {:04o})", what, path.string(), status.st_mode & 07777u);
}

bool written_by_others(const Status& status) { return (status.st_mode & (S_IWGRP | S_IWOTH)) != 0; }

/// A folder on the way.
std::string judge_folder(const fs::path& path, const Status& status) {
  if (!is_trusted_owner(status)) return foreign(path, status, "the folder");
  // In a sticky folder nobody renames or removes what is another's.
  if ((status.st_mode & S_IWOTH) != 0 && (status.st_mode & S_ISVTX) == 0) return writable(path, status, "the folder");
  return {};
}

/// What the path leads to.
std::string judge_target(const fs::path& path, const Status& status, Owner owner) {
  const bool folder = S_ISDIR(status.st_mode);
  const char* const what = folder ? "the folder" : "the file";
  const bool owned = owner == Owner::User ? status.st_uid == ::geteuid() : is_trusted_owner(status);
  if (!owned) return foreign(path, status, what);
  if (written_by_others(status)) return writable(path, status, what);
  if (folder) return {};
  Status around{};
  if (::stat(path.parent_path().c_str(), &around) != 0) return errno_text("stat", errno);
  return written_by_others(around) ? writable(path.parent_path(), around, "the folder") : std::string();
}

/// Follows a path as the kernel does, one name at a time.
class Walk {
 public:
  Walk(const fs::path& path, Owner owner) : owner_(owner) { put_in_front(path); }

  std::string judge() {
    while (!rest_.empty()) {
      const fs::path name = rest_.front();
      rest_.pop_front();
      if (name == "..") at_ = at_.parent_path();
      if (name.empty() || name == "." || name == "..") continue;
      if (std::string reason = step(at_ / name); !reason.empty()) return reason;
    }
    Status status{};
    if (::lstat(at_.c_str(), &status) != 0) return errno_text("lstat", errno) + " for '" + at_.string() + "'";
    return judge_target(at_, status, owner_);
  }

 private:
  void put_in_front(const fs::path& path) {
    std::deque<fs::path> parts;
    for (const fs::path& part : path.relative_path()) parts.push_back(part);
    rest_.insert(rest_.begin(), parts.begin(), parts.end());
    if (path.is_absolute()) at_ = path.root_path();
  }

  std::string step(const fs::path& next) {
    Status status{};
    if (::lstat(next.c_str(), &status) != 0) return errno_text("lstat", errno) + " for '" + next.string() + "'";
    if (!S_ISLNK(status.st_mode)) {
      at_ = next;
      return S_ISDIR(status.st_mode) && !rest_.empty() ? judge_folder(next, status) : std::string();
    }
    if (!is_trusted_owner(status)) return foreign(next, status, "the symbolic link");
    if (++links_ > kMostLinks) return "too many symbolic links at '" + next.string() + "'";
    std::error_code error;
    const fs::path target = fs::read_symlink(next, error);
    if (error) return errno_text("readlink", error.value()) + " for '" + next.string() + "'";
    put_in_front(target);
    return {};
  }

  Owner owner_;
  fs::path at_ = "/";
  std::deque<fs::path> rest_;
  int links_ = 0;
};

std::string judge(const fs::path& path, Owner owner) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  return error ? errno_text("getcwd", error.value()) : Walk(absolute, owner).judge();
}

}  // namespace

std::string why_not_private(const fs::path& path) { return judge(path, Owner::User); }

std::string why_not_trusted(const fs::path& path) { return judge(path, Owner::UserOrRoot); }

}  // namespace attune::base
