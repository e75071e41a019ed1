#include "db/replace_damaged.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <sstream>
#include <string>

#include "db/migrations.hpp"
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

/// A file by its number on the disk; empty for what is no regular file or has other names.
std::string number_of(const fs::path& name) {
  struct stat status {};
  if (::lstat(name.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink != 1) return {};
  return std::to_string(status.st_ino);
}

/// The same, as long as nobody writes to it.
std::string state_of(const fs::path& name) {
  struct stat status {};
  if (::lstat(name.c_str(), &status) != 0) return "-";
  return fmt::format("{}:{}:{}.{}", status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

/// What the lock file says of a replacement.
struct Note {
  enum class Stage { None, Making, Filling, Whole } stage = Stage::None;
  std::string fresh;    ///< number of the new file
  std::string damaged;  ///< state of the damaged one
  std::string aside;    ///< name that the damaged one gets, without its folder

  [[nodiscard]] std::string text() const {
    static constexpr std::array<const char*, 4> kNames{"", "making", "filling", "whole"};
    return fmt::format("{} {} {} {}", kNames[static_cast<std::size_t>(stage)], fresh.empty() ? "-" : fresh, damaged, aside);
  }
  static Note read(const std::string& text) {
    Note note;
    std::istringstream words(text);
    std::string stage;
    words >> stage >> note.fresh >> note.damaged;
    std::getline(words >> std::ws, note.aside);
    if (stage == "making") note.stage = Stage::Making;
    if (stage == "filling") note.stage = Stage::Filling;
    if (stage == "whole") note.stage = Stage::Whole;
    return note;
  }
};

/// Before the file itself: as long as that is there, the note tells whose these are.
void remove_companions(const fs::path& path) {
  for (const char* suffix : {"-wal", "-shm", "-journal", ".lock"}) {
    std::error_code ignored;
    fs::remove(beside(path, suffix), ignored);
  }
}

void remove_database(const fs::path& path) {
  remove_companions(path);
  std::error_code ignored;
  fs::remove(path, ignored);
}

void rename_or_fail(const fs::path& path, const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error)
    fail_opening(path, fmt::format("it is damaged, and '{}' could not be renamed to '{}': {}", from.string(), to.string(),
                                   base::errno_text("rename", error.value())));
}

/// A name that has no file yet.
fs::path aside_name(const fs::path& path) {
  std::string stamp = base::utc_now();
  stamp.erase(std::remove_if(stamp.begin(), stamp.end(), [](char c) { return c == '-' || c == ':'; }), stamp.end());
  fs::path target = path.string() + ".corrupt-" + stamp;
  const auto taken = [&] {
    return std::any_of(kSuffixes.begin(), kSuffixes.end(), [&](const char* suffix) { return is_taken(beside(target, suffix)); });
  };
  for (int i = 2; taken(); ++i) target = fmt::format("{}.corrupt-{}-{}", path.string(), stamp, i);
  return target;
}

void require_alone(const fs::path& path, LockFile& lock, const std::string& damage) {
  if (lock.try_lock(LockFile::Part::InUse, LockFile::Share::Alone)) return;
  fail_opening(path, fmt::format("it is damaged ({}) and another process is using it; stop that one and try again", damage));
}

/// Renames the damaged file and what belongs to it, as far as that has not been done.
void set_aside(const fs::path& path, const fs::path& aside) {
  // The WAL goes first: left beside a new database it would be replayed into that one.
  for (const char* suffix : {"-wal", "-journal", "-shm", ""}) {
    if (is_taken(beside(path, suffix))) rename_or_fail(path, beside(path, suffix), beside(aside, suffix));
  }
  remove_suspect_mark(path);
}

/// Empty, of the mode and owner of the damaged file, and noted as what it is. Nothing else of its names may be there: it could not be
/// told from ours.
Note make_fresh(const fs::path& path, const fs::path& fresh, LockFile& lock, const std::string& damage) {
  for (const char* suffix : kSuffixes) {
    if (is_taken(beside(fresh, suffix))) {
      fail_opening(path, fmt::format("it is damaged ({}), and '{}' is in the way of what takes its place; move that away", damage,
                                     beside(fresh, suffix).string()));
    }
  }
  Note note{Note::Stage::Making, {}, state_of(path), aside_name(path).filename().string()};
  lock.write_note(note.text());
  const int fd = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0)
    fail_opening(path,
                 fmt::format("it is damaged ({}), and making '{}' failed: {}", damage, fresh.string(), base::errno_text("open", errno)));
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) {
    // Only root can give a file away; what fails leaves it to this user alone.
    const bool same_owner = ::fchown(fd, status.st_uid, status.st_gid) == 0;
    if (same_owner) (void)::fchmod(fd, status.st_mode & 0666U);
  }
  ::close(fd);
  note.stage = Note::Stage::Filling;
  note.fresh = number_of(fresh);
  lock.write_note(note.text());
  return note;
}

/// On the disk, and noted as what takes the damaged file's place.
void make_whole(const fs::path& path, const fs::path& fresh, LockFile& lock, Note& note) {
  if (has_bytes(beside(fresh, "-wal")))
    fail_opening(path, fmt::format("it is damaged, and '{}' could not be completed; free some space on its disk", fresh.string()));
  const int fd = ::open(fresh.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  const bool synced = fd >= 0 && ::fsync(fd) == 0;
  const int error_number = errno;
  if (fd >= 0) ::close(fd);
  if (!synced)
    fail_opening(path, fmt::format("it is damaged, and writing '{}' failed: {}", fresh.string(), base::errno_text("fsync", error_number)));
  note.stage = Note::Stage::Whole;
  note.damaged = state_of(path);  // reading may have cost it its journal
  lock.write_note(note.text());
}

/// The damaged file, if it is still there, gives way to a whole one.
void put_in_place(const fs::path& path, const fs::path& fresh, LockFile& lock, const Note& note) {
  set_aside(path, path.parent_path() / note.aside);
  remove_companions(fresh);
  rename_or_fail(path, fresh, path);
  lock.write_note({});
  lock.unlock(LockFile::Part::InUse);
}

}  // namespace

std::string replace_damaged(const fs::path& path, LockFile& lock, const std::string& damage,
                            const std::function<std::uint64_t(const fs::path& damaged, const fs::path& fresh)>& fill) {
  require_alone(path, lock, damage);
  const fs::path fresh = fresh_name(path);
  Note note = make_fresh(path, fresh, lock, damage);
  std::uint64_t rows = 0;
  try {
    rows = fill(path, fresh);
    make_whole(path, fresh, lock, note);
  } catch (...) {
    remove_database(fresh);
    throw;
  }
  put_in_place(path, fresh, lock, note);
  return fmt::format("database '{}' was damaged ({}); it was set aside as '{}' and a new one was created, {}", path.string(), damage,
                     (path.parent_path() / note.aside).string(),
                     rows == 0 ? "empty, for nothing in it could be read" : fmt::format("with the {} rows that could still be read", rows));
}

std::string finish_replacing(const fs::path& path, LockFile& lock) {
  const fs::path fresh = fresh_name(path);
  const Note note = Note::read(lock.note());
  const bool noted = note.fresh == number_of(fresh);
  if (note.stage == Note::Stage::Making && !number_of(fresh).empty() && !has_bytes(fresh)) remove_database(fresh);
  if (note.stage == Note::Stage::Filling && noted) remove_database(fresh);
  if (note.stage == Note::Stage::Whole && noted) {
    if (is_taken(path) && state_of(path) != note.damaged) {
      lock.write_note({});
      return fmt::format(
          "'{}' has what could be read of an earlier database '{}' that was damaged; another one has taken its name since: `attune db merge` adds the rows to it",
          fresh.string(), path.string());
    }
    require_alone(path, lock, "a process died while it was set aside");
    put_in_place(path, fresh, lock, note);
    return fmt::format(
        "database '{}' was damaged, and a process died while it was set aside as '{}'; a new one took its place, with every row that could still be read",
        path.string(), (path.parent_path() / note.aside).string());
  }
  if (note.stage == Note::Stage::None && !is_taken(path) && !number_of(fresh).empty() && has_header_of_ours(fresh)) {
    fail_opening(path,
                 fmt::format("it is not there, but '{}' is, which looks like what could be read of it once; rename that, or move it away",
                             fresh.string()));
  }
  if (note.stage != Note::Stage::None) lock.write_note({});
  return {};
}

}  // namespace attune::db
