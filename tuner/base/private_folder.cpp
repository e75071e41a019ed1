#include "tuner/base/private_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <utility>

#include "attune/error.hpp"
#include "tuner/base/errno_text.hpp"
#include "tuner/base/new_file.hpp"

namespace attune::base {
namespace {

namespace fs = std::filesystem;

// O_NONBLOCK: a pipe that has come here must not keep us waiting for its writer.
constexpr int kReadFile = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
constexpr int kNewFile = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
constexpr int kReadFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

/// A name in a folder, not a path: what is asked for below a descriptor stays below it.
bool is_one_name(const std::string& name) { return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos; }

[[noreturn]] void fail_writing(const fs::path& path, const char* call) {
  throw Error(fmt::format("failed writing {}: {}", path.string(), errno_text(call, errno)));
}

/// Whatever is wrong with it as a file that code is loaded from.
std::string why_not_loaded(const fs::path& path, const struct stat& status, std::uint64_t most_bytes) {
  if (!S_ISREG(status.st_mode)) return fmt::format("'{}' is no regular file; remove it", path.string());
  if (std::string reason = why_shared(path, status); !reason.empty()) return reason;
  if (status.st_nlink != 1) return fmt::format("the file '{}' has {} names (hard links); remove it", path.string(), status.st_nlink);
  if (static_cast<std::uint64_t>(status.st_size) <= most_bytes) return {};
  return fmt::format("the file '{}' has {} bytes, more than any that attune writes there; remove it", path.string(), status.st_size);
}

struct CloseListing {
  void operator()(DIR* listing) const noexcept { ::closedir(listing); }
};

}  // namespace

PrivateFolder PrivateFolder::open(const fs::path& path, IfMissing if_missing) {
  PrivateFolder folder;
  Walked walked = walk_privately(path, if_missing);
  folder.path_ = walked.path();
  folder.refusal_ = walked.refusal;
  folder.missing_ = walked.missing;
  if (!walked.arrived()) return folder;
  if (!walked.name.empty()) {
    folder.missing_ = errno_text("open", ENOTDIR) + " for '" + folder.path_.string() + "'";
    return folder;
  }
  folder.refusal_ = why_shared(folder.path_, walked.status);
  if (folder.refusal_.empty()) folder.fd_ = std::move(walked.folder.fd);
  return folder;
}

PrivateFolder PrivateFolder::subfolder(const std::string& name, IfMissing if_missing) const {
  PrivateFolder sub;
  sub.path_ = path_ / name;
  sub.refusal_ = refusal_;
  sub.missing_ = missing_;
  if (!is_open()) return sub;
  constexpr int kLook = O_PATH | O_NOFOLLOW | O_CLOEXEC;
  const bool fits = is_one_name(name);
  FileDescriptor fd(fits ? ::openat(fd_.get(), name.c_str(), kLook) : -1);
  if (fits && !fd.open() && errno == ENOENT && if_missing == IfMissing::Create) {
    // Who else makes it at this moment is judged below.
    if (::mkdirat(fd_.get(), name.c_str(), 0700) == 0 || errno == EEXIST) fd = FileDescriptor(::openat(fd_.get(), name.c_str(), kLook));
  }
  struct stat status {};
  if (!fd.open() || ::fstat(fd.get(), &status) != 0) {
    sub.missing_ = errno_text("open", fits ? errno : EINVAL) + " for '" + sub.path_.string() + "'";
  } else if (S_ISDIR(status.st_mode)) {
    sub.refusal_ = why_shared(sub.path_, status);
    if (sub.refusal_.empty()) sub.fd_ = std::move(fd);
  } else if (S_ISLNK(status.st_mode)) {
    sub.refusal_ = fmt::format("'{}' is a symbolic link; remove it", sub.path_.string());
  } else {
    sub.missing_ = errno_text("open", ENOTDIR) + " for '" + sub.path_.string() + "'";
  }
  return sub;
}

bool PrivateFolder::is_writable() const { return is_open() && ::faccessat(fd_.get(), ".", W_OK, AT_EACCESS) == 0; }

std::optional<std::string> PrivateFile::read() const {
  struct stat status {};
  if (!fd.open() || ::fstat(fd.get(), &status) != 0) return std::nullopt;
  // As many bytes as it had when it was judged: what is appended meanwhile is no part of it.
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = ::read(fd.get(), bytes.data() + filled, bytes.size() - filled);
    if (got == 0 || (got < 0 && errno != EINTR)) return std::nullopt;
    if (got > 0) filled += static_cast<std::size_t>(got);
  }
  return bytes;
}

PrivateFile PrivateFolder::open_file(const std::string& name, std::uint64_t most_bytes) const {
  PrivateFile file;
  if (!is_open() || !is_one_name(name)) return file;
  const fs::path path = path_ / name;
  FileDescriptor fd(::openat(fd_.get(), name.c_str(), kReadFile));
  struct stat status {};
  if (!fd.open() || ::fstat(fd.get(), &status) != 0) {
    if (errno == ELOOP) {
      file.refusal = fmt::format("'{}' is a symbolic link; remove it", path.string());
    } else if (errno != ENOENT) {
      file.refusal = fmt::format("{} for '{}'; remove it", errno_text("open", errno), path.string());
    }
    return file;
  }
  file.refusal = why_not_loaded(path, status, most_bytes);
  if (file.refusal.empty()) file.fd = std::move(fd);
  return file;
}

FileDescriptor PrivateFolder::open_for_locks(const std::string& name) const {
  if (!is_open() || !is_one_name(name)) return {};
  FileDescriptor fd(::openat(fd_.get(), name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  struct stat status {};
  const bool ours = fd.open() && ::fstat(fd.get(), &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == ::geteuid();
  return ours ? std::move(fd) : FileDescriptor();
}

void PrivateFolder::write(const std::string& name, std::string_view bytes) const {
  const fs::path path = path_ / name;
  if (!is_open() || !is_one_name(name)) {
    errno = EINVAL;
    fail_writing(path, "open");
  }
  const std::string temporary = temporary_name();
  FileDescriptor fd(::openat(fd_.get(), temporary.c_str(), kNewFile, 0600));
  if (!fd.open()) fail_writing(path, "open");
  try {
    if (!write_all(fd.get(), bytes)) fail_writing(path, "write");
    if (::renameat(fd_.get(), temporary.c_str(), fd_.get(), name.c_str()) != 0) fail_writing(path, "rename");
  } catch (const Error&) {
    (void)remove(temporary);
    throw;
  }
}

void PrivateFolder::close_to_others(const std::string& name) const noexcept {
  if (!is_open() || !is_one_name(name)) return;
  const FileDescriptor fd(::openat(fd_.get(), name.c_str(), kReadFile));  // no link, as fchmodat would follow one
  if (fd.open()) (void)::fchmod(fd.get(), S_IRUSR | S_IWUSR);
}

void PrivateFolder::touch(const std::string& name) const noexcept {
  if (is_open()) (void)::utimensat(fd_.get(), name.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

bool PrivateFolder::remove(const std::string& name) const noexcept { return is_open() && ::unlinkat(fd_.get(), name.c_str(), 0) == 0; }

std::vector<PrivateFolder::Entry> PrivateFolder::entries() const {
  std::vector<Entry> all;
  if (!is_open()) return all;
  FileDescriptor fd(::openat(fd_.get(), ".", kReadFolder));
  const std::unique_ptr<DIR, CloseListing> listing(fd.open() ? ::fdopendir(fd.get()) : nullptr);
  if (listing == nullptr) return all;
  (void)fd.release();  // the listing's from here on
  while (const dirent* const entry = ::readdir(listing.get())) {
    struct stat status {};
    if (!is_one_name(entry->d_name) || ::fstatat(fd_.get(), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) continue;
    all.push_back({entry->d_name, static_cast<std::uint64_t>(status.st_size), status.st_mtim, S_ISDIR(status.st_mode)});
  }
  return all;
}

}  // namespace attune::base
