#include "db/page_file.hpp"

#include <SQLiteCpp/Exception.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <numeric>

namespace attune::db {
namespace {

constexpr std::size_t kWalHeader = 32, kFrameHeader = 24;

base::FileDescriptor open_regular(const std::filesystem::path& path, std::uint64_t& bytes) {
  base::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status {};
  bytes = 0;
  if (!file.open() || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  bytes = static_cast<std::uint64_t>(status.st_size);
  return file;
}

/// False where the file ends before.
bool read_at(const base::FileDescriptor& file, std::uint64_t at, unsigned char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t got = ::pread(file.get(), bytes, count, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw SQLite::Exception("the disk cannot give what the damaged file has", SQLITE_IOERR);
    if (got == 0) return false;
    bytes += got, at += static_cast<std::uint64_t>(got), count -= static_cast<std::size_t>(got);
  }
  return true;
}

/// The checksum of a WAL: over words of the order that its magic number names, each frame's going on from the one before.
class WalChecksum {
 public:
  explicit WalChecksum(bool big_endian_words) : big_endian_words_(big_endian_words) {}
  void add(const unsigned char* bytes, std::size_t count) {
    for (std::size_t i = 0; i < count; i += 8) {
      first_ += word(bytes + i) + second_;
      second_ += word(bytes + i + 4) + first_;
    }
  }
  [[nodiscard]] bool is(const unsigned char* stored) const {
    return big_endian(stored, 4) == first_ && big_endian(stored + 4, 4) == second_;
  }

 private:
  [[nodiscard]] std::uint32_t word(const unsigned char* bytes) const {
    const auto number = static_cast<std::uint32_t>(big_endian(bytes, 4));
    return big_endian_words_ ? number : __builtin_bswap32(number);
  }
  bool big_endian_words_;
  std::uint32_t first_ = 0, second_ = 0;
};

}  // namespace

std::uint64_t big_endian(const unsigned char* bytes, int count) {
  std::uint64_t number = 0;
  for (int i = 0; i < count; ++i) number = number << 8 | bytes[i];
  return number;
}

std::vector<std::size_t> PageFile::page_sizes(const std::filesystem::path& path) {
  constexpr std::size_t kUsual = 4096;
  std::vector<std::size_t> sizes;
  const auto add = [&](std::size_t size) {
    const bool possible = std::has_single_bit(size) && size >= kSmallestPage && size <= kLargestPage;
    if (possible && std::find(sizes.begin(), sizes.end(), size) == sizes.end()) sizes.push_back(size);
  };
  std::array<unsigned char, 18> header{};
  std::uint64_t bytes = 0;
  const auto file = open_regular(path, bytes);
  if (!file.open()) throw SQLite::Exception("the damaged file cannot be opened", SQLITE_CANTOPEN);
  if (read_at(file, 0, header.data(), header.size())) {
    const std::size_t told = big_endian(&header[16], 2);
    add(told == 1 ? kLargestPage : told);
  }
  const auto wal = open_regular(path.string() + "-wal", bytes);
  if (wal.open() && read_at(wal, 0, header.data(), header.size())) add(big_endian(&header[8], 4));
  add(kUsual);
  return sizes;
}

PageFile::PageFile(const std::filesystem::path& path, std::size_t page_bytes) : page_bytes_(page_bytes) {
  std::uint64_t bytes = 0;
  file_ = open_regular(path, bytes);
  if (!file_.open()) throw SQLite::Exception("the damaged file cannot be opened", SQLITE_CANTOPEN);
  constexpr std::uint64_t kMostPages = 0xfffffffe;
  in_file_ = count_ = static_cast<std::uint32_t>(std::min(bytes / page_bytes_, kMostPages));
  index_wal(path);
  if (count_ < in_file_ && !shrinks_by_commit()) count_ = in_file_;
}

bool PageFile::shrinks_by_commit() const {
  const auto header = in_wal_.find(1);
  std::array<unsigned char, 32> begin{};
  return header != in_wal_.end() && read_at(wal_, header->second, begin.data(), begin.size()) && big_endian(&begin[28], 4) == count_;
}

void PageFile::index_wal(const std::filesystem::path& path) {
  std::uint64_t bytes = 0;
  wal_ = open_regular(path.string() + "-wal", bytes);
  std::array<unsigned char, kWalHeader> header{};
  if (!wal_.open() || !read_at(wal_, 0, header.data(), header.size())) return;
  constexpr std::uint64_t kMagic = 0x377f0682;
  const std::uint64_t magic = big_endian(header.data(), 4);
  WalChecksum checksum((magic & 1) != 0);
  checksum.add(header.data(), 24);
  if ((magic & ~std::uint64_t{1}) != kMagic || big_endian(header.data() + 8, 4) != page_bytes_ || !checksum.is(header.data() + 24)) return;
  std::map<std::uint32_t, std::uint64_t> uncommitted;
  std::array<unsigned char, kFrameHeader> frame{};
  Page page(page_bytes_);
  for (std::uint64_t at = kWalHeader; at + kFrameHeader + page_bytes_ <= bytes; at += kFrameHeader + page_bytes_) {
    if (!read_at(wal_, at, frame.data(), frame.size()) || !read_at(wal_, at + kFrameHeader, page.data(), page.size())) return;
    checksum.add(frame.data(), 8);
    checksum.add(page.data(), page.size());
    if (!std::equal(frame.begin() + 8, frame.begin() + 16, header.begin() + 16) || !checksum.is(frame.data() + 16)) return;
    uncommitted[static_cast<std::uint32_t>(big_endian(frame.data(), 4))] = at + kFrameHeader;
    const auto pages_after_commit = static_cast<std::uint32_t>(big_endian(frame.data() + 4, 4));
    if (pages_after_commit == 0) continue;
    for (const auto& [number, place] : uncommitted) in_wal_[number] = place;
    uncommitted.clear();
    count_ = pages_after_commit;
  }
}

std::vector<std::uint32_t> PageFile::numbers() const {
  std::vector<std::uint32_t> numbers(std::min(in_file_, count_));
  std::iota(numbers.begin(), numbers.end(), 1U);
  for (auto newer = in_wal_.upper_bound(in_file_); newer != in_wal_.end() && newer->first <= count_; ++newer)
    numbers.push_back(newer->first);
  return numbers;
}

bool PageFile::read(std::uint64_t number, Page& page) const {
  if (number == 0 || number > count_) return false;
  const auto newer = in_wal_.find(static_cast<std::uint32_t>(number));
  if (newer != in_wal_.end()) return read_at(wal_, newer->second, page.data(), page.size());
  return read_at(file_, (number - 1) * page_bytes_, page.data(), page.size());
}

}  // namespace attune::db
