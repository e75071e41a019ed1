#include "db/lock_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "db/lock_wait.hpp"
#include "db/sqlite_error.hpp"
#include "tuner/base/errno_text.hpp"
#include "tuner/base/range_lock.hpp"
#include "tuner/base/standard_descriptors.hpp"

namespace attune::db {
namespace {

base::Locking set_lock(int fd, LockFile::Part part, base::RangeLock lock) {
  return base::set_range_lock(fd, lock, static_cast<off_t>(part), 1);
}

/// The lock file's time of change: when its last holder took it.
timespec last_taken(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 ? status.st_mtim : timespec{};
}

}  // namespace

LockFile::LockFile(const std::filesystem::path& database) : database_(database) {
  const std::string path = database.string() + ".lock";
  // A file locked by name is one that others may have made: a link there would be followed to whatever it names.
  fd_ = base::above_standard_descriptors(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (fd_ < 0) {
    const int error_number = errno;
    const std::string told = base::errno_remedy(error_number), remedy = told.empty() ? std::string("; ") + kOtherFileRemedy : told;
    throw DatabaseError(database.string(), fmt::format("failed opening database '{}' for writing: {} for '{}'{}", database.string(),
                                                       base::errno_text("open", error_number), path, remedy));
  }
}

LockFile& LockFile::operator=(LockFile&& other) noexcept {
  std::swap(database_, other.database_);
  std::swap(fd_, other.fd_);
  return *this;
}

LockFile::~LockFile() {
  if (fd_ >= 0) ::close(fd_);
}

void LockFile::lock(Part part, Share share, std::chrono::milliseconds timeout, const std::function<bool()>& keep_going) {
  // Polled, because a blocking F_OFD_SETLKW knows no timeout and a stopped process would hang all others for ever.
  auto deadline = std::chrono::steady_clock::now() + timeout;
  auto pause = std::chrono::milliseconds(1);
  timespec taken = last_taken(fd_);
  while (!try_lock(part, share)) {
    const LockWait wait;
    // While it changes hands nobody is stuck: a queue of any length is waited out, however busy the machine is.
    if (const timespec now = last_taken(fd_); now.tv_sec != taken.tv_sec || now.tv_nsec != taken.tv_nsec) {
      taken = now;
      deadline = std::chrono::steady_clock::now() + timeout;
    }
    if (keep_going && !keep_going())
      throw Error(fmt::format("interrupted opening database '{}'", database_.string()), ExitCode::Interrupted);
    if (std::chrono::steady_clock::now() >= deadline) {
      throw DatabaseError(database_.string(), fmt::format("failed opening database '{0}': another process has held '{0}.lock' for {1} s; "
                                                          "try again when that one has finished",
                                                          database_.string(), timeout.count() / 1000));
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds(16));
  }
  if (share == Share::Alone) tell_at_work();
}

/// One that cannot be told waits as long as before.
void LockFile::tell_at_work() const { (void)::futimens(fd_, nullptr); }

std::string LockFile::note() const {
  std::string text(kMostNoteBytes, '\0');
  const ssize_t got = ::pread(fd_, text.data(), text.size(), 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  if (!text.starts_with(kNoteBegin)) return {};
  return text.substr(kNoteBegin.size(), text.find('\n') - kNoteBegin.size());
}

void LockFile::write_note(const std::string& line) {
  const std::string text = line.empty() ? line : fmt::format("{}{}\n", kNoteBegin, line);
  // Over the old line, which is cut off then: at no point is neither there.
  errno = ENOSPC;  // of a write that is cut short
  const bool written = ::pwrite(fd_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()) &&
                       ::ftruncate(fd_, static_cast<off_t>(text.size())) == 0 && ::fsync(fd_) == 0;
  if (written) return;
  throw DatabaseError(database_.string(),
                      fmt::format("failed writing '{}.lock': {}", database_.string(), base::errno_text("write", errno)));
}

bool LockFile::try_lock(Part part, Share share) {
  const auto locking = set_lock(fd_, part, share == Share::Alone ? base::RangeLock::Alone : base::RangeLock::Shared);
  if (locking != base::Locking::Failed) return locking == base::Locking::Done;
  throw DatabaseError(database_.string(), fmt::format("failed locking database '{}': {}; keep the database on a file system with locks "
                                                      "(ATTUNE_DB or --db)",
                                                      database_.string(), base::errno_text("fcntl(F_OFD_SETLK)", errno)));
}

void LockFile::unlock(Part part) {
  // Unlocking bytes of an open descriptor cannot fail for a reason that a caller could act on.
  (void)set_lock(fd_, part, base::RangeLock::None);
}

}  // namespace attune::db
