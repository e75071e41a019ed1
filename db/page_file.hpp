#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <vector>

#include "tuner/base/file_descriptor.hpp"

namespace attune::db {

/// What SQLite takes, in bytes.
inline constexpr std::size_t kSmallestPage = 512, kLargestPage = 65536;
using Page = std::vector<unsigned char>;

/// A big-endian number of two to eight bytes.
[[nodiscard]] std::uint64_t big_endian(const unsigned char* bytes, int count);

/// The pages of a database file as its last commit left them, by their numbers alone: of its header nothing is read. What the WAL beside
/// it has of a page is taken as SQLite would: from frames whose checksums hold, up to the last commit. That a commit has made the file
/// shorter is believed only with the header that such a commit writes: the WAL may have been left by another database.
class PageFile {
 public:
  /// The sizes that the file's pages may have: what its header says, and the WAL's, as far as SQLite takes that; and 4096, which all
  /// databases of ours have that nobody has packed otherwise.
  /// Throws: SQLite::Exception (SQLITE_CANTOPEN, SQLITE_IOERR).
  [[nodiscard]] static std::vector<std::size_t> page_sizes(const std::filesystem::path& path);

  /// Throws: SQLite::Exception (SQLITE_CANTOPEN, SQLITE_IOERR).
  PageFile(const std::filesystem::path& path, std::size_t page_bytes);
  [[nodiscard]] std::size_t page_bytes() const { return page_bytes_; }

  /// Reads all pages that are there, ascending from 1. What the last commit says of their number is no promise that they are.
  [[nodiscard]] std::vector<std::uint32_t> numbers() const;
  /// False for a number that the file does not have. Requires: `page` has as many bytes. Throws: SQLite::Exception (SQLITE_IOERR).
  [[nodiscard]] bool read(std::uint64_t number, Page& page) const;

 private:
  void index_wal(const std::filesystem::path& path);

  [[nodiscard]] bool shrinks_by_commit() const;

  std::size_t page_bytes_;
  base::FileDescriptor file_, wal_;
  std::map<std::uint32_t, std::uint64_t> in_wal_;  ///< where the newest frame of a page has it
  std::uint32_t in_file_ = 0, count_ = 0;          ///< pages: of the file's bytes, and after the last commit
};

}  // namespace attune::db
