#pragma once
#include <SQLiteCpp/Database.h>

#include <cstddef>
#include <filesystem>
#include <memory>

namespace attune::db {

/// A damaged database file in memory, with the header that one of ours has, and with the definitions of tables and indexes as ours read
/// where up to two bytes of one differ: a flipped bit there would hide every row of a file or a table. The file itself is not changed; what
/// is in its WAL is not seen. Nothing else is repaired, and nothing made known to be ours: that is still to be checked.
class RepairedImage {
 public:
  /// Throws: SQLite::Exception (SQLITE_IOERR, SQLITE_NOMEM, SQLITE_CANTOPEN) when the file cannot be read into memory, SQLITE_NOTADB when it has
  /// no page.
  explicit RepairedImage(const std::filesystem::path& path);
  RepairedImage(const RepairedImage&) = delete;
  RepairedImage& operator=(const RepairedImage&) = delete;
  ~RepairedImage();

  /// Read-only. To be closed before this is destroyed. Throws: SQLite::Exception.
  [[nodiscard]] std::unique_ptr<SQLite::Database> open();

 private:
  void repair_header();
  void repair_definitions();

  struct Memory {
    explicit Memory(std::size_t wanted);
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory();
    unsigned char* bytes = nullptr;
    std::size_t size = 0;
  };
  std::unique_ptr<Memory> memory_;
};

}  // namespace attune::db
