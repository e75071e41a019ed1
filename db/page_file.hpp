#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <vector>

#include "tuner/base/file_descriptor.hpp"

namespace attune::db {

/// Of every database of ours.
inline constexpr std::size_t kPageBytes = 4096;
using Page = std::array<unsigned char, kPageBytes>;

/// A big-endian number of two to eight bytes.
[[nodiscard]] std::uint64_t big_endian(const unsigned char* bytes, int count);

/// The pages of a database file as its last commit left them, by their numbers alone: of its header nothing is read. What the WAL beside
/// it has of a page is taken as SQLite would: from frames whose checksums hold, up to the last commit.
class PageFile {
 public:
  /// Throws: SQLite::Exception (SQLITE_CANTOPEN, SQLITE_IOERR).
  explicit PageFile(const std::filesystem::path& path);

  /// Of all pages that are there, ascending from 1. What the last commit says of their number is no promise that they are.
  [[nodiscard]] std::vector<std::uint32_t> numbers() const;
  /// False for a number that the file does not have. Throws: SQLite::Exception (SQLITE_IOERR).
  [[nodiscard]] bool read(std::uint64_t number, Page& page) const;

 private:
  void index_wal(const std::filesystem::path& path);

  base::FileDescriptor file_, wal_;
  std::map<std::uint32_t, std::uint64_t> in_wal_;  ///< where the newest frame of a page has it
  std::uint32_t in_file_ = 0, count_ = 0;                     ///< pages: of the file's bytes, and after the last commit
};

}  // namespace attune::db
