#include "db/companion_files.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>

#include "db/reading.hpp"
#include "db/sqlite_error.hpp"

namespace attune::db {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kJournalMagic("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);

[[noreturn]] void refuse_companion(const fs::path& path, const fs::path& companion, const char* why) {
  fail_opening(path, fmt::format("'{}' {}; it stays as it is: move it away, or name another file with ATTUNE_DB or --db", companion.string(), why));
}

struct JournalEnds {
  std::string first;  ///< 8 bytes, or as many as there are
  std::string last;   ///< 16 bytes; empty when there are fewer
};

/// A file that cannot be read has none: SQLite cannot read it either.
JournalEnds ends_of(const fs::path& journal) {
  const int fd = ::open(journal.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return {};
  std::array<char, 16> bytes{};
  JournalEnds ends;
  if (const ssize_t got = ::pread(fd, bytes.data(), kJournalMagic.size(), 0); got > 0) ends.first.assign(bytes.data(), static_cast<std::size_t>(got));
  const off_t size = ::lseek(fd, 0, SEEK_END);
  const auto tail = static_cast<off_t>(bytes.size());
  if (size >= tail && ::pread(fd, bytes.data(), bytes.size(), size - tail) == tail) ends.last.assign(bytes.data(), bytes.size());
  ::close(fd);
  return ends;
}

/// SQLite's own is of zeros when it is finished with, and when power was cut before its beginning was written.
bool begins_as_journal(const JournalEnds& ends) {
  return ends.first.empty() || ends.first == kJournalMagic || ends.first == std::string(kJournalMagic.size(), '\0');
}

/// As SQLite finds it: the length of the name, a checksum of it and the magic number stand at the end.
bool names_second_file(const JournalEnds& ends) {
  if (ends.last.empty() || std::string_view(ends.last).substr(8) != kJournalMagic) return false;
  return ends.last.substr(0, 4) != std::string(4, '\0');
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
  if (is_new && !begins_as_journal(ends)) refuse_companion(path, journal, "is no journal of a database");
  if (names_second_file(ends)) refuse_companion(path, journal, "names a second file, which playing it back would remove");
}

}  // namespace attune::db
