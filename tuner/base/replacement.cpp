#include "tuner/base/replacement.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "attune/error.hpp"
#include "tuner/base/errno_text.hpp"
#include "tuner/base/new_file.hpp"
#include "tuner/base/standard_descriptors.hpp"

namespace attune::base {
namespace {

constexpr mode_t kNewOutput = 0666;  // less the umask

/// Errors that say "no such kind of file here" rather than "not you" or "not now".
bool means_unsupported(int error) { return error == EOPNOTSUPP || error == EISDIR || error == EINVAL || error == ENOSYS; }

/// Errors of linkat that a file with a name from its begin does not meet: no /proc, or a guard against links.
bool means_no_links(int error) {
  return means_unsupported(error) || error == ENOENT || error == EPERM || error == EACCES || error == EXDEV || error == EMLINK;
}

}  // namespace

Replacement::Replacement(const std::filesystem::path& folder, const std::string& name, std::filesystem::path told)
    : name_(name), told_(std::move(told)) {
  folder_ = FileDescriptor(above_standard_descriptors(::open(folder.empty() ? "." : folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)));
  if (!folder_.open()) fail("open", errno);
  // Read again only where it must be copied, which needs the right to.
  file_ = FileDescriptor(above_standard_descriptors(::openat(folder_.get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, kNewOutput)));
  if (file_.open()) return;
  if (!means_unsupported(errno)) fail("open", errno);
  open_named();
}

Replacement::~Replacement() {
  if (!temporary_.empty()) ::unlinkat(folder_.get(), temporary_.c_str(), 0);
}

void Replacement::open_named() {
  const std::string name = temporary_name();
  file_ =
      FileDescriptor(above_standard_descriptors(::openat(folder_.get(), name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kNewOutput)));
  if (!file_.open()) fail("open", errno);
  temporary_ = name;
}

void Replacement::look_like(const struct stat& old) {
  old_ = old;
  // Nobody else reads it before it has its owner.
  if (::fchmod(file_.get(), S_IRUSR | S_IWUSR) != 0) fail("fchmod", errno);
}

void Replacement::write(std::string_view bytes) {
  if (!write_all(file_.get(), bytes)) fail("write", errno);
}

void Replacement::commit() {
  if (old_) {
    // Only root may give files away; who may not keeps them.
    const bool grouped = ::fchown(file_.get(), static_cast<uid_t>(-1), old_->st_gid) == 0;
    if (::fchown(file_.get(), old_->st_uid, static_cast<gid_t>(-1)) != 0) errno = 0;
    mode_t mode = old_->st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
    if (!grouped) mode &= ~static_cast<mode_t>(S_IRWXG) | (mode & S_IRWXO) << 3U;  // the group is another one: as everybody
    if (::fchmod(file_.get(), mode) != 0) fail("fchmod", errno);
  }
  // On disk before it has its name: after a power cut the old file or the whole new one is there.
  if (::fsync(file_.get()) != 0) fail("fsync", errno);
  check_name();
  move_to_name();
  // Only makes the name durable. Its failure (some network file systems know no fsync of a folder) is no failure of the write: the
  // new file is in place, and a crash leaves the old or the new one.
  const FileDescriptor folder(::openat(folder_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.open()) (void)::fsync(folder.get());
}

void Replacement::check_name() const {
  struct stat there {};
  if (::fstatat(folder_.get(), name_.c_str(), &there, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return;
    fail("stat", errno);
  }
  if (S_ISREG(there.st_mode)) return;
  if (S_ISDIR(there.st_mode)) fail("rename", EISDIR);
  throw EnvironmentError(fmt::format("failed writing {}: what has this name is no regular file and stays as it is", told_.string()));
}

int Replacement::link_as(const std::string& name) const {
  const std::string own = fmt::format("/proc/self/fd/{}", file_.get());
  return ::linkat(AT_FDCWD, own.c_str(), folder_.get(), name.c_str(), AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

void Replacement::copy_into_named() {
  const FileDescriptor nameless = std::exchange(file_, FileDescriptor());
  open_named();
  struct stat status {};
  if (::fstat(nameless.get(), &status) != 0 || ::fchmod(file_.get(), status.st_mode & 07777) != 0) fail("fchmod", errno);
  (void)!::fchown(file_.get(), status.st_uid, status.st_gid);
  std::string chunk(std::size_t{1} << 17, '\0');
  for (off_t at = 0;;) {
    const ssize_t got = ::pread(nameless.get(), chunk.data(), chunk.size(), at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("pread", errno);
    if (got == 0) break;
    write({chunk.data(), static_cast<std::size_t>(got)});
    at += got;
  }
  if (::fsync(file_.get()) != 0) fail("fsync", errno);
}

void Replacement::move_to_name() {
  if (temporary_.empty()) {
    // A name that is free is given at once: whoever is killed then leaves nothing hidden. No call puts a file without a name in the
    // place of another one.
    int error = link_as(name_);
    if (error == 0) return;
    if (error == EEXIST) {
      const std::string hidden = temporary_name();
      error = link_as(hidden);
      if (error == 0) temporary_ = hidden;
    }
    if (error != 0 && !means_no_links(error)) fail("linkat", error);
    if (error != 0) copy_into_named();
  }
  if (::renameat(folder_.get(), temporary_.c_str(), folder_.get(), name_.c_str()) != 0) fail("rename", errno);
  temporary_.clear();
}

void Replacement::fail(const char* call, int error_number) const {
  throw EnvironmentError(
      fmt::format("failed writing {}: {}{}", told_.string(), errno_text(call, error_number), errno_remedy(error_number)));
}

}  // namespace attune::base
