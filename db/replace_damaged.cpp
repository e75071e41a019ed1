#include "db/replace_damaged.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "db/page_check.hpp"
#include "db/reading.hpp"
#include "db/sqlite_error.hpp"
#include "tuner/base/errno_text.hpp"
#include "tuner/base/text.hpp"

namespace attune::db {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 5> kSuffixes{"", "-wal", "-shm", "-journal", ".lock"};

fs::path fresh_name(const fs::path& path) { return beside(path, ".salvaged"); }

/// Whatever it is; a link that leads nowhere, too.
bool is_taken(const fs::path& name) {
  struct stat status {};
  return ::lstat(name.c_str(), &status) == 0;
}

/// What the lock file says of a new file: its state, and its number on the disk.
std::string note_of(const char* state, const fs::path& name) {
  struct stat status {};
  if (::lstat(name.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink != 1) return {};
  return fmt::format("{} {}", state, status.st_ino);
}

void remove_database(const fs::path& path) {
  for (const char* suffix : kSuffixes) {
    std::error_code ignored;
    fs::remove(beside(path, suffix), ignored);
  }
}

void rename_or_fail(const fs::path& path, const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) fail_opening(path, fmt::format("it is damaged, and '{}' could not be renamed to '{}': {}", from.string(), to.string(), base::errno_text("rename", error.value())));
}

/// Of a name that has no file yet.
fs::path aside_name(const fs::path& path) {
  std::string stamp = base::utc_now();
  stamp.erase(std::remove_if(stamp.begin(), stamp.end(), [](char c) { return c == '-' || c == ':'; }), stamp.end());
  fs::path target = path.string() + ".corrupt-" + stamp;
  const auto taken = [&] { return std::any_of(kSuffixes.begin(), kSuffixes.end(), [&](const char* suffix) { return is_taken(beside(target, suffix)); }); };
  for (int i = 2; taken(); ++i) target = fmt::format("{}.corrupt-{}-{}", path.string(), stamp, i);
  return target;
}

void require_alone(const fs::path& path, LockFile& lock, const std::string& damage) {
  if (lock.try_lock(LockFile::Part::InUse, LockFile::Share::Alone)) return;
  fail_opening(path, fmt::format("it is damaged ({}) and another process is using it; stop that one and try again", damage));
}

/// Renames the damaged file and what belongs to it; returns its new name.
fs::path set_aside(const fs::path& path) {
  const fs::path target = aside_name(path);
  // The WAL goes first: left beside a new database it would be replayed into that one.
  for (const char* suffix : {"-wal", "-journal", "-shm", ""}) {
    if (is_taken(beside(path, suffix))) rename_or_fail(path, beside(path, suffix), beside(target, suffix));
  }
  remove_suspect_mark(path);
  return target;
}

/// Empty, and noted as what it is. Nothing else of its names may be there: it could not be told from ours.
void make_fresh(const fs::path& path, const fs::path& fresh, LockFile& lock, const std::string& damage) {
  for (const char* suffix : kSuffixes) {
    if (is_taken(beside(fresh, suffix))) {
      fail_opening(path, fmt::format("it is damaged ({}), and '{}' is in the way of what takes its place; move that away", damage, beside(fresh, suffix).string()));
    }
  }
  const int fd = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (fd < 0) fail_opening(path, fmt::format("it is damaged ({}), and making '{}' failed: {}", damage, fresh.string(), base::errno_text("open", errno)));
  ::close(fd);
  lock.write_note(note_of("filling", fresh));
}

/// On the disk, and noted as what takes the damaged file's place.
void make_whole(const fs::path& path, const fs::path& fresh, LockFile& lock) {
  if (has_bytes(beside(fresh, "-wal"))) fail_opening(path, fmt::format("it is damaged, and '{}' could not be completed; free some space on its disk", fresh.string()));
  const int fd = ::open(fresh.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  const bool synced = fd >= 0 && ::fsync(fd) == 0;
  const int error_number = errno;
  if (fd >= 0) ::close(fd);
  if (!synced) fail_opening(path, fmt::format("it is damaged, and writing '{}' failed: {}", fresh.string(), base::errno_text("fsync", error_number)));
  lock.write_note(note_of("whole", fresh));
}

/// The damaged file, if it is still there, gives way to a whole one. Returns what it is called now.
fs::path put_in_place(const fs::path& path, const fs::path& fresh, LockFile& lock) {
  fs::path aside;
  if (is_taken(path) || is_taken(beside(path, "-wal"))) aside = set_aside(path);
  rename_or_fail(path, fresh, path);
  lock.write_note({});
  remove_database(fresh);  // what was beside it
  lock.unlock(LockFile::Part::InUse);
  return aside;
}

}  // namespace

std::string replace_damaged(const fs::path& path, LockFile& lock, const std::string& damage,
                            const std::function<std::uint64_t(const fs::path& damaged, const fs::path& fresh)>& fill) {
  require_alone(path, lock, damage);
  const fs::path fresh = fresh_name(path);
  make_fresh(path, fresh, lock, damage);
  std::uint64_t rows = 0;
  try {
    rows = fill(path, fresh);
    make_whole(path, fresh, lock);
  } catch (...) {
    remove_database(fresh);
    throw;
  }
  const fs::path aside = put_in_place(path, fresh, lock);
  return fmt::format("database '{}' was damaged ({}); it was set aside as '{}' and a new one was created, {}", path.string(), damage, aside.string(),
                     rows == 0 ? "empty, for nothing in it could be read" : fmt::format("with the {} rows that could still be read", rows));
}

std::string finish_replacing(const fs::path& path, LockFile& lock) {
  const std::string note = lock.note();
  if (note.empty()) return {};
  const fs::path fresh = fresh_name(path);
  if (note == note_of("filling", fresh)) remove_database(fresh);
  if (note != note_of("whole", fresh)) return lock.write_note({}), std::string();
  require_alone(path, lock, "a process died while it was set aside");
  const fs::path aside = put_in_place(path, fresh, lock);
  return fmt::format("database '{}' was damaged, and a process died while it was set aside; a new one took its place, with every row that could still be read{}",
                     path.string(), aside.empty() ? std::string() : fmt::format("; the old one is '{}'", aside.string()));
}

}  // namespace attune::db
