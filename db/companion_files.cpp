#include "db/companion_files.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <string_view>

#include "db/lock_file.hpp"
#include "db/reading.hpp"
#include "db/sqlite_error.hpp"
#include "tuner/base/errno_text.hpp"

namespace attune::db {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kJournalMagic("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8), kWalMagic("\x37\x7f\x06\x82", 4);

[[noreturn]] void refuse_companion(const fs::path& path, const fs::path& companion, const char* why) {
  fail_opening(
      path, fmt::format("'{}' {}; it stays as it is: move it away, or name another file with ATTUNE_DB or --db", companion.string(), why));
}

struct JournalEnds {
  std::string first;  ///< 8 bytes, or as many as there are
  std::string last;   ///< 16 bytes; empty when there are fewer
};

/// The ends of a journal or a write-ahead log. A file that cannot be read has none: SQLite cannot read it either.
JournalEnds ends_of(const fs::path& journal) {
  const int fd = ::open(journal.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return {};
  std::array<char, 16> bytes{};
  JournalEnds ends;
  if (const ssize_t got = ::pread(fd, bytes.data(), kJournalMagic.size(), 0); got > 0)
    ends.first.assign(bytes.data(), static_cast<std::size_t>(got));
  const off_t size = ::lseek(fd, 0, SEEK_END);
  const auto tail = static_cast<off_t>(bytes.size());
  if (size >= tail && ::pread(fd, bytes.data(), bytes.size(), size - tail) == tail) ends.last.assign(bytes.data(), bytes.size());
  ::close(fd);
  return ends;
}

/// SQLite's own is of zeros when it is finished with, and when power was cut before its beginning was written. A byte or two may be
/// damaged.
bool begins_as(const std::string& first, std::string_view magic) {
  if (first.find_first_not_of('\0') == std::string::npos) return true;
  std::size_t differing = 0;
  for (std::size_t i = 0; i < std::min(first.size(), magic.size()); ++i) differing += first[i] == magic[i] ? 0 : 1;
  return differing <= magic.size() / 4;
}

/// As SQLite finds it: the length of the name, a checksum of it and the magic number stand at the end.
bool names_second_file(const JournalEnds& ends) {
  if (ends.last.empty() || std::string_view(ends.last).substr(8) != kJournalMagic) return false;
  return ends.last.substr(0, 4) != std::string(4, '\0');
}

/// Project folders have files such as "poetry.lock".
bool is_lock_of_ours(const fs::path& lock) {
  std::string text(LockFile::kMostNoteBytes, '\0');
  const int fd = ::open(lock.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return true;  // what cannot be read cannot be locked either
  const ssize_t got = ::pread(fd, text.data(), text.size(), 0);
  ::close(fd);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text.empty() || text.starts_with(LockFile::kNoteBegin);
}

}  // namespace

void refuse_foreign_companions(const fs::path& path) {
  for (const char* suffix : {"-wal", "-journal", "-shm", ".lock"}) {
    struct stat status {};
    const fs::path companion = beside(path, suffix);
    if (::lstat(companion.c_str(), &status) != 0) continue;
    if (!S_ISREG(status.st_mode)) refuse_companion(path, companion, "is no regular file");
    if (status.st_nlink > 1) refuse_companion(path, companion, "has other names as well (hard links), which would be changed with it");
  }
  const fs::path wal = beside(path, "-wal"), journal = beside(path, "-journal");
  const bool is_new = !has_bytes(path);
  if (is_new && has_bytes(wal)) refuse_companion(path, wal, "belongs to another database, or is none of a database's files");
  if (!has_bytes(journal)) return;
  const JournalEnds ends = ends_of(journal);
  if (!begins_as(ends.first, kJournalMagic)) refuse_companion(path, journal, "is no journal of a database");
  if (names_second_file(ends)) refuse_companion(path, journal, "names a second file, which playing it back would remove");
}

void refuse_unsafe_files(const fs::path& path) {
  constexpr std::size_t kLongestName = 200;  // of the 255 that file systems take: ".corrupt-20261122T120000Z-2-journal" may follow
  const std::string name = path.filename().string();
  for (const char* suffix : {"-wal", "-journal", "-shm", ".lock", ".suspect", ".salvaged"}) {
    if (name.ends_with(suffix))
      fail_opening(path, fmt::format("a name that ends in '{}' is that of a file beside a database; {}", suffix, kOtherFileRemedy));
  }
  if (name.size() > kLongestName)
    fail_opening(path, fmt::format("its name has {} bytes, of which {} leave room for those of the files beside it; {}", name.size(),
                                   kLongestName, kOtherFileRemedy));
  // Readers lock nothing, and take a WAL that is none for none: both stay.
  const fs::path lock = beside(path, ".lock"), wal = beside(path, "-wal");
  if (has_bytes(lock) && !is_lock_of_ours(lock)) refuse_companion(path, lock, "is no lock file of a database");
  if (has_bytes(wal) && !begins_as(ends_of(wal).first, kWalMagic)) refuse_companion(path, wal, "is none of a database's files");
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink < 2) return;
  fail_opening(
      path,
      fmt::format(
          "it has {} names (hard links), each with a write-ahead log and a lock of its own; make copies of it with `attune db export`, and remove the other names",
          status.st_nlink));
}

void let_companions_be_written(const fs::path& path) {
  const auto may = [](const fs::path& file, int what) { return ::faccessat(AT_FDCWD, file.c_str(), what, AT_EACCESS) == 0; };
  struct stat status {};
  if (!may(path, W_OK) || ::stat(path.c_str(), &status) != 0) return;
  for (const char* suffix : {"-wal", "-shm"}) {
    const fs::path companion = beside(path, suffix);
    if (!may(companion, F_OK) || may(companion, W_OK)) continue;
    if (::chmod(companion.c_str(), status.st_mode & 0777) == 0) continue;
    const std::string why = base::errno_text("chmod", errno);
    // The log may hold what was committed and has not come to the database yet; the index is made anew from it.
    const char* const mend = std::string_view(suffix) == "-wal"
                                 ? "let its owner open the database once, or make it writable as well; it may hold committed rows"
                                 : "remove it while no program uses the database";
    fail_opening(path, fmt::format("'{}' cannot be written, as the database can ({}); {}", companion.string(), why, mend));
  }
}

}  // namespace attune::db
