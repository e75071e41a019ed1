#include "db/repaired_image.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "db/database.hpp"
#include "db/database_file.hpp"
#include "db/guard.hpp"
#include "db/migrations.hpp"
#include "db/schema_check.hpp"

namespace attune::db {
namespace {

constexpr std::size_t kPage = 4096;
/// Definitions are written when a file is made, into its first pages.
constexpr std::size_t kSearched = std::size_t{1} << 20;
constexpr int kMostDiffering = 2;

[[noreturn]] void fail(const char* what, int code) { throw SQLite::Exception(what, code); }

bool resembles(std::string_view found, std::string_view wanted) {
  int differing = 0;
  for (std::size_t i = 0; i < wanted.size() && differing <= kMostDiffering; ++i) differing += found[i] == wanted[i] ? 0 : 1;
  return differing <= kMostDiffering;
}

/// Where `wanted` stands, or something that differs from it in a byte or two; npos where neither does.
std::size_t place_of(std::string_view text, std::string_view wanted) {
  const std::size_t exact = text.find(wanted);
  if (exact != std::string_view::npos) return exact;
  for (std::size_t at = 0; at + wanted.size() <= text.size(); ++at) {
    if (resembles(text.substr(at, wanted.size()), wanted)) return at;
  }
  return std::string_view::npos;
}

}  // namespace

RepairedImage::RepairedImage(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) fail("the damaged file cannot be opened", SQLITE_CANTOPEN);
  struct stat status {};
  const bool usable = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size >= static_cast<off_t>(kPage);
  size_ = usable ? static_cast<std::size_t>(status.st_size) / kPage * kPage : 0;
  void* const mapped = usable ? ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0) : MAP_FAILED;
  ::close(fd);
  if (!usable) fail("the damaged file has no page", SQLITE_NOTADB);
  if (mapped == MAP_FAILED) fail("the damaged file cannot be mapped into memory", SQLITE_NOMEM);
  bytes_ = static_cast<unsigned char*>(mapped);
  repair_header();
  repair_definitions();
}

RepairedImage::~RepairedImage() { ::munmap(bytes_, size_); }

/// Of https://www.sqlite.org/fileformat.html, "The Database Header".
void RepairedImage::repair_header() {
  const auto put = [&](std::size_t at, std::size_t number) {
    for (std::size_t i = 0; i < 4; ++i) bytes_[at + i] = static_cast<unsigned char>(number >> (8 * (3 - i)));
  };
  std::memcpy(bytes_, "SQLite format 3\0\x10\0\1\1\0\x40\x20\x20", 24);  // pages of 4096 bytes, no write-ahead log
  std::memcpy(bytes_ + 92, bytes_ + 24, 4);                              // the number of pages is valid
  put(28, size_ / kPage);
  for (const std::size_t unused : {32, 36, 48, 52, 64, 72, 76, 80, 84, 88}) put(unused, 0);
  put(44, 4);  // of the schema's format
  put(56, 1);  // UTF-8
  put(60, static_cast<std::size_t>(Database::kSchemaVersion));
  put(68, static_cast<std::size_t>(kApplicationId));
}

namespace {

std::string varint(std::size_t number) {
  std::string bytes(1, static_cast<char>(number & 0x7fU));
  for (number >>= 7; number > 0; number >>= 7) bytes.insert(bytes.begin(), static_cast<char>((number & 0x7fU) | 0x80U));
  return bytes;
}

/// A row of sqlite_master as it lies in a page, which its texts determine but for its number and that of its root page.
class Definition {
 public:
  explicit Definition(const SchemaObject& object) : sql_(object.sql), names_(object.type + object.name + object.table) {
    for (const std::string& text : {object.type, object.name, object.table}) kinds_ += varint(13 + 2 * text.size());
    end_of_kinds_ = sql_.empty() ? std::string(1, '\0') : varint(13 + 2 * sql_.size());
  }

  void repair(std::string_view searched, char* text) const {
    const auto [begin, width] = find(searched);
    if (begin == std::string_view::npos) return;
    const std::size_t header_bytes = kinds_.size() + end_of_kinds_.size() + 2;
    const std::string header = varint(header_bytes) + kinds_ + static_cast<char>(width) + end_of_kinds_;
    const std::string length = varint(header_bytes + names_.size() + width + sql_.size());
    if (begin < header.size() + 1 + length.size()) return;
    mend(text + begin, names_);
    mend(text + begin + names_.size() + width, sql_);
    mend(text + begin - header.size(), header);
    mend(text + begin - header.size() - 1 - length.size(), length);
  }

 private:
  struct Place {
    std::size_t begin = std::string_view::npos;  ///< of the names
    std::size_t width = 1;                       ///< of the root page's number, in bytes
  };
  [[nodiscard]] Place find(std::string_view searched) const {
    if (sql_.empty()) {
      const std::size_t begin = place_of(searched, names_);
      const std::size_t width = begin == std::string_view::npos || begin < 2 ? 1 : static_cast<unsigned char>(searched[begin - 2]);
      return {begin, width >= 1 && width <= 4 ? width : 1};
    }
    const std::size_t at = place_of(searched, sql_);
    if (at == std::string_view::npos) return {};
    for (std::size_t width = 1; width <= 4 && at >= names_.size() + width; ++width) {
      const std::size_t begin = at - width - names_.size();
      if (resembles(searched.substr(begin, names_.size()), names_)) return {begin, width};
    }
    return {};
  }
  static void mend(char* text, const std::string& wanted) {
    if (resembles(std::string_view(text, wanted.size()), wanted)) wanted.copy(text, wanted.size());
  }

  std::string sql_, names_, kinds_, end_of_kinds_;
};

}  // namespace

void RepairedImage::repair_definitions() {
  SQLite::Database model(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  migrate(model, Database::kSchemaVersion);
  auto* const text = reinterpret_cast<char*>(bytes_);
  for (const SchemaObject& object : schema_objects(model)) Definition(object).repair({text, std::min(size_, kSearched)}, text);
}

std::unique_ptr<SQLite::Database> RepairedImage::open() {
  auto sqlite = std::make_unique<SQLite::Database>(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_NOMUTEX);
  harden(*sqlite);
  // One definition that makes no sense is not to hide the other tables. The image cannot be written, whatever this allows.
  sqlite3_db_config(sqlite->getHandle(), SQLITE_DBCONFIG_DEFENSIVE, 0, nullptr);
  sqlite->exec("PRAGMA writable_schema = ON");
  sqlite3_db_config(sqlite->getHandle(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  const auto bytes = static_cast<sqlite3_int64>(size_);
  const int code = sqlite3_deserialize(sqlite->getHandle(), "main", bytes_, bytes, bytes, SQLITE_DESERIALIZE_READONLY);
  if (code != SQLITE_OK) fail("the damaged file cannot be opened in memory", code);
  return sqlite;
}

}  // namespace attune::db
