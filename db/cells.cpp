#include "db/cells.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <map>
#include <span>
#include <string>

#include "db/guard.hpp"
#include "db/page_file.hpp"

namespace attune::db {
namespace {

/// What a page may be, by the first byte of its header.
enum class PageKind : unsigned char { IndexInterior = 2, IndexLeaf = 10, TableLeaf = 13 };

/// Reads on from `at`; nothing once the bytes have ended.
class Bytes {
 public:
  explicit Bytes(std::span<const unsigned char> bytes) : bytes_(bytes) {}

  std::optional<std::uint64_t> varint() {
    std::uint64_t number = 0;
    for (int i = 0; i < 9 && at_ < bytes_.size(); ++i) {
      const unsigned char byte = bytes_[at_++];
      if (i == 8) return number << 8 | byte;
      number = number << 7 | (byte & 0x7fU);
      if ((byte & 0x80U) == 0) return number;
    }
    return std::nullopt;
  }
  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] std::span<const unsigned char> rest() const { return bytes_.subspan(at_); }

 private:
  std::span<const unsigned char> bytes_;
  std::size_t at_ = 0;
};

/// How long the value of a serial type is; none for the two types that no file has.
std::optional<std::uint64_t> length_of(std::uint64_t type) {
  constexpr std::array<std::uint64_t, 10> kLengths{0, 1, 2, 3, 4, 6, 8, 8, 0, 0};
  if (type < kLengths.size()) return kLengths[type];
  if (type < 12) return std::nullopt;
  return (type - 12) / 2;
}

StoredValue value_of(std::uint64_t type, const unsigned char* bytes) {
  if (type == 0) return {};
  if (type == 8 || type == 9) return static_cast<std::int64_t>(type - 8);
  const std::size_t length = *length_of(type);
  const char* const text = reinterpret_cast<const char*>(bytes);
  if (type >= 12) return type % 2 == 0 ? StoredValue(Blob{{text, length}}) : StoredValue(std::string_view{text, length});
  const std::uint64_t number = big_endian(bytes, static_cast<int>(length));
  if (type == 7) return std::bit_cast<double>(number);
  const int unused = 64 - 8 * static_cast<int>(length);
  return static_cast<std::int64_t>(number << unused) >> unused;  // with the sign of its first bit
}

/// The types of a record's values, as far as `begin` has them; none unless they make up exactly `bytes` bytes.
std::optional<std::vector<std::uint64_t>> types_of(std::span<const unsigned char> begin, std::uint64_t bytes) {
  Bytes read(begin);
  const auto header = read.varint();
  if (!header || *header > begin.size()) return std::nullopt;
  std::vector<std::uint64_t> types;
  std::uint64_t described = *header;
  while (read.at() < *header) {
    const auto type = read.varint();
    const auto length = type ? length_of(*type) : std::nullopt;
    if (!length || *length > bytes) return std::nullopt;
    described += *length;
    types.push_back(*type);
  }
  if (read.at() != *header || described != bytes) return std::nullopt;
  return types;
}

class CellReader {
 public:
  CellReader(const PageFile& file, const std::function<void(const Cell&)>& visit)
      : file_(file), visit_(visit), page_bytes_(file.page_bytes()), page_(page_bytes_), overflow_(page_bytes_) {}

  void read_page(std::uint32_t number) {
    if (!file_.read(number, page_)) return;
    const std::size_t header = number == 1 ? 100 : 0;
    if (std::all_of(page_.begin() + header, page_.begin() + header + 8, [](unsigned char byte) { return byte == 0; })) return;  // unused
    // A byte may say what this page is not. What a cell holds decides whether it was one.
    for (const PageKind kind : {PageKind::TableLeaf, PageKind::IndexLeaf, PageKind::IndexInterior}) read_as(kind, header);
  }

 private:
  void read_as(PageKind kind, std::size_t header) {
    const std::size_t pointers = header + (kind == PageKind::IndexInterior ? 12 : 8);
    const std::uint64_t count = big_endian(&page_[header + 3], 2), content = big_endian(&page_[header + 5], 2);
    // Either figure may be damaged.
    const std::size_t end = std::max<std::size_t>(pointers + 2 * count, content);
    std::bitset<kLargestPage> seen;
    for (std::size_t at = pointers; at + 2 <= std::min(end, page_bytes_); at += 2) {
      const std::size_t place = big_endian(&page_[at], 2);
      if (place < pointers || place >= page_bytes_ || seen[place]) continue;
      seen[place] = true;
      read_cell(kind, place);
    }
  }

  void read_cell(PageKind kind, std::size_t place) {
    if (kind == PageKind::IndexInterior) place += 4;  // of the page to its left
    if (place >= page_bytes_) return;
    Bytes read(std::span<const unsigned char>(page_).subspan(place));
    const auto bytes = read.varint();
    if (!bytes || *bytes > kLongestValue) return;
    cell_.row_number.reset();
    if (kind == PageKind::TableLeaf) {
      const auto number = read.varint();
      if (!number) return;
      cell_.row_number = static_cast<std::int64_t>(*number);
    }
    const std::size_t local = local_bytes(kind, *bytes);
    if (local > read.rest().size()) return;
    const auto types = types_of(read.rest().first(local), *bytes);
    if (!types || !take_payload(read.rest(), local, *bytes)) return;
    cell_.values.clear();
    std::size_t at = payload_.size();
    for (const std::uint64_t type : *types) at -= *length_of(type);
    for (const std::uint64_t type : *types) {
      cell_.values.push_back(value_of(type, payload_.data() + at));
      at += *length_of(type);
    }
    visit_(cell_);
  }

  /// How much of a payload lies in the page itself.
  [[nodiscard]] std::size_t local_bytes(PageKind kind, std::uint64_t bytes) const {
    const std::uint64_t least = (page_bytes_ - 12) * 32 / 255 - 23;
    const std::uint64_t most = kind == PageKind::TableLeaf ? page_bytes_ - 35 : (page_bytes_ - 12) * 64 / 255 - 23;
    if (bytes <= most) return bytes;
    const std::uint64_t fitting = least + (bytes - least) % (page_bytes_ - 4);
    return fitting <= most ? fitting : least;
  }

  /// The rest lies on a chain of pages, each of which begins with the number of the next. A page is of one value only, but of which one is
  /// not known where chains lead into each other: the first few may have it, so that what a forged file costs stays bounded.
  bool take_payload(std::span<const unsigned char> in_page, std::size_t local, std::uint64_t bytes) {
    payload_.assign(in_page.begin(), in_page.begin() + static_cast<std::ptrdiff_t>(local));
    if (local == bytes) return true;
    if (in_page.size() < local + 4) return false;
    std::uint64_t next = big_endian(&in_page[local], 4);
    while (payload_.size() < bytes) {
      constexpr int kMostTakers = 8;
      if (taken_[next]++ >= kMostTakers || !file_.read(next, overflow_)) return false;
      const std::size_t taken = std::min<std::size_t>(page_bytes_ - 4, bytes - payload_.size());
      payload_.insert(payload_.end(), overflow_.begin() + 4, overflow_.begin() + 4 + static_cast<std::ptrdiff_t>(taken));
      next = big_endian(overflow_.data(), 4);
    }
    return true;
  }

  const PageFile& file_;
  const std::function<void(const Cell&)>& visit_;
  const std::size_t page_bytes_;
  Page page_, overflow_;
  std::map<std::uint64_t, int> taken_;  ///< how often a page, by number
  std::vector<unsigned char> payload_;
  Cell cell_;
};

}  // namespace

void for_each_cell(const std::filesystem::path& path, const std::function<void()>& each_page,
                   const std::function<void(const Cell&)>& visit) {
  for (const std::size_t page_bytes : PageFile::page_sizes(path)) {
    const PageFile file(path, page_bytes);
    CellReader reader(file, visit);
    for (const std::uint32_t number : file.numbers()) {
      each_page();
      reader.read_page(number);
    }
  }
}

}  // namespace attune::db
