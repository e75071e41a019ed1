#include "db/repaired_image.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "db/database.hpp"
#include "db/database_file.hpp"
#include "db/guard.hpp"
#include "db/migrations.hpp"
#include "db/schema_check.hpp"
#include "tuner/base/file_descriptor.hpp"

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

/// Every place where `wanted` stands, or something that differs from it in a byte or two: a page may have the remains of older rows.
std::vector<std::size_t> places_of(std::string_view text, std::string_view wanted) {
  std::vector<std::size_t> places;
  for (std::size_t at = 0; at + wanted.size() <= text.size(); ++at) {
    if (resembles(text.substr(at, wanted.size()), wanted)) places.push_back(at);
  }
  return places;
}

}  // namespace

RepairedImage::Memory::Memory(std::size_t wanted) : size(wanted) {
  void* const mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) fail("there is no memory for the damaged file", SQLITE_NOMEM);
  bytes = static_cast<unsigned char*>(mapped);
}

RepairedImage::Memory::~Memory() { ::munmap(bytes, size); }

RepairedImage::RepairedImage(const std::filesystem::path& path) {
  const base::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.open()) fail("the damaged file cannot be opened", SQLITE_CANTOPEN);
  struct stat status {};
  const bool usable = ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size >= static_cast<off_t>(kPage);
  if (!usable) fail("the damaged file has no page", SQLITE_NOTADB);
  memory_ = std::make_unique<Memory>(static_cast<std::size_t>(status.st_size) / kPage * kPage);
  // Read rather than mapped: a page that the disk cannot give is an error then, and no signal.
  for (std::size_t at = 0; at < memory_->size;) {
    const ssize_t got = ::pread(file.get(), memory_->bytes + at, memory_->size - at, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("the damaged file cannot be read", SQLITE_IOERR);
    if (got == 0) break;  // it has become shorter
    at += static_cast<std::size_t>(got);
  }
  repair_header();
  repair_definitions();
}

RepairedImage::~RepairedImage() = default;

/// Of https://www.sqlite.org/fileformat.html, "The Database Header".
void RepairedImage::repair_header() {
  const auto put = [&](std::size_t at, std::size_t number) {
    for (std::size_t i = 0; i < 4; ++i) memory_->bytes[at + i] = static_cast<unsigned char>(number >> (8 * (3 - i)));
  };
  std::memcpy(memory_->bytes, "SQLite format 3\0\x10\0\1\1\0\x40\x20\x20", 24);  // pages of 4096 bytes, no write-ahead log
  std::memcpy(memory_->bytes + 92, memory_->bytes + 24, 4);                        // the number of pages is valid
  put(28, memory_->size / kPage);
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
    for (const std::size_t at : places_of(searched, sql_.empty() ? names_ : sql_)) {
      const auto [begin, width] = around(searched, at);
      if (begin != std::string_view::npos) repair_at(text, begin, width);
    }
  }

 private:
  struct Place {
    std::size_t begin = std::string_view::npos;  ///< of the names
    std::size_t width = 1;                       ///< of the root page's number, in bytes
  };
  /// `at`: of the text, or of the names where there is no text.
  [[nodiscard]] Place around(std::string_view searched, std::size_t at) const {
    if (sql_.empty()) {
      const std::size_t width = at < 2 ? 1 : static_cast<unsigned char>(searched[at - 2]);
      return {at, width >= 1 && width <= 4 ? width : 1};
    }
    for (std::size_t width = 1; width <= 4 && at >= names_.size() + width; ++width) {
      const std::size_t begin = at - width - names_.size();
      if (resembles(searched.substr(begin, names_.size()), names_)) return {begin, width};
    }
    return {};
  }
  void repair_at(char* text, std::size_t begin, std::size_t width) const {
    const std::size_t header_bytes = kinds_.size() + end_of_kinds_.size() + 2;
    const std::string header = varint(header_bytes) + kinds_ + static_cast<char>(width) + end_of_kinds_;
    const std::string length = varint(header_bytes + names_.size() + width + sql_.size());
    if (begin < header.size() + 1 + length.size()) return;
    mend(text + begin, names_);
    if (!sql_.empty()) mend(text + begin + names_.size() + width, sql_);
    mend(text + begin - header.size(), header);
    mend(text + begin - header.size() - 1 - length.size(), length);
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
  auto* const text = reinterpret_cast<char*>(memory_->bytes);
  for (const SchemaObject& object : schema_objects(model)) Definition(object).repair({text, std::min(memory_->size, kSearched)}, text);
}

std::unique_ptr<SQLite::Database> RepairedImage::open() {
  auto sqlite = std::make_unique<SQLite::Database>(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_NOMUTEX);
  harden(*sqlite);
  // One definition that makes no sense is not to hide the other tables. The image cannot be written, whatever this allows.
  sqlite3_db_config(sqlite->getHandle(), SQLITE_DBCONFIG_DEFENSIVE, 0, nullptr);
  sqlite->exec("PRAGMA writable_schema = ON");
  sqlite3_db_config(sqlite->getHandle(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  const auto bytes = static_cast<sqlite3_int64>(memory_->size);
  const int code = sqlite3_deserialize(sqlite->getHandle(), "main", memory_->bytes, bytes, bytes, SQLITE_DESERIALIZE_READONLY);
  if (code != SQLITE_OK) fail("the damaged file cannot be opened in memory", code);
  return sqlite;
}

}  // namespace attune::db
