#include "tests/fuzz/database_input.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace attune::test {
namespace {

constexpr std::string_view kWalMark = "\n@@ wal\n", kJournalMark = "\n@@ journal\n";
constexpr std::string_view kJournalMagic("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);
constexpr std::size_t kPage = 4096;  ///< of every database in the corpus
constexpr std::size_t kWalHeader = 32, kFrameHeader = 24, kFrame = kFrameHeader + kPage;
constexpr std::size_t kSector = 512, kJournalRecord = 4 + kPage + 4;

std::uint32_t read_u32(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

void write_u32(std::string& bytes, std::size_t at, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<char>(value >> (24 - 8 * i));
}

std::string u32(std::uint32_t value) {
  std::string bytes(4, '\0');
  write_u32(bytes, 0, value);
  return bytes;
}

/// SQLite's file format, "WAL file format": a running sum of pairs of words.
struct WalSum {
  bool big_endian = true;
  std::uint32_t first = 0, second = 0;

  void add(const std::string& bytes, std::size_t at, std::size_t count) {
    for (std::size_t i = at; i + 8 <= at + count; i += 8) {
      first += word(bytes, i) + second;
      second += word(bytes, i + 4) + first;
    }
  }
  [[nodiscard]] std::uint32_t word(const std::string& bytes, std::size_t at) const {
    const std::uint32_t value = read_u32(bytes, at);
    return big_endian ? value : __builtin_bswap32(value);
  }
};

void seal_wal(std::string& wal) {
  if (wal.size() < kWalHeader) return;
  WalSum sum{(read_u32(wal, 0) & 1) != 0};
  sum.add(wal, 0, kWalHeader - 8);
  write_u32(wal, kWalHeader - 8, sum.first);
  write_u32(wal, kWalHeader - 4, sum.second);
  for (std::size_t at = kWalHeader; at + kFrame <= wal.size(); at += kFrame) {
    wal.replace(at + 8, 8, wal, 16, 8);  // the salts of the header
    sum.add(wal, at, 8);
    sum.add(wal, at + kFrameHeader, kPage);
    write_u32(wal, at + 16, sum.first);
    write_u32(wal, at + 20, sum.second);
  }
}

std::uint32_t journal_sum(const std::string& bytes, std::size_t page_at, std::uint32_t nonce) {
  for (std::size_t i = kPage - 200; i < kPage && i > 0; i -= std::min<std::size_t>(i, 200))
    nonce += static_cast<unsigned char>(bytes[page_at + i]);
  return nonce;
}

void seal_journal(std::string& journal) {
  if (journal.size() < kSector) return;
  const std::uint32_t nonce = read_u32(journal, 12);
  for (std::size_t at = kSector; at + kJournalRecord <= journal.size(); at += kJournalRecord) {
    write_u32(journal, at + 4 + kPage, journal_sum(journal, at + 4, nonce));
  }
}

class PageChanges {
 public:
  PageChanges(DatabaseInput& input, std::mt19937_64& random) : input_(input), random_(random) {}

  void apply() {
    if (!input_.journal.empty() && below(4) == 0) return change_blocks(input_.journal, kSector, kJournalRecord, 4);
    if (!input_.wal.empty() && below(2) == 0) return change_blocks(input_.wal, kWalHeader, kFrame, kFrameHeader);
    change_blocks(input_.file, 0, kPage, 0);
  }

 private:
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : random_() % bound; }

  /// `bytes` is a head and then blocks of `size`, each with a page behind `page_at` bytes.
  void change_blocks(std::string& bytes, std::size_t head, std::size_t size, std::size_t page_at) {
    if (bytes.size() < head + size) return;
    const std::size_t blocks = (bytes.size() - head) / size;
    const auto any = [&] { return head + below(blocks) * size; };
    const std::size_t at = any();
    switch (below(12)) {
      case 0:
        return void(bytes.replace(at, size, bytes, any(), size));
      case 1: {
        const std::size_t other = any();
        for (std::size_t i = 0; i < size; ++i) std::swap(bytes[at + i], bytes[other + i]);
        return;
      }
      case 2:
        return void(bytes.replace(at + page_at, kPage, std::string(kPage, '\0')));
      case 3:
        return bytes.resize(at);
      case 4:
        return void(bytes.append(bytes, at, size));
      case 5:
        return void(bytes.erase(at, size));
      case 6:
        if (head == 0) return change_header(bytes);
        return write_u32(bytes, below(2) == 0 ? at : 4 * below(head / 4), interesting());
      case 7:
        return change_word(bytes, at + page_at);
      case 8:
      case 9:
        return change_page_header(bytes, at + page_at);
      default:
        return change_cell(bytes, at + page_at);
    }
  }

  std::uint32_t interesting() {
    constexpr std::array<std::uint32_t, 12> kValues{0,      1,          2,          3,          0x7f,       0xff,
                                                    0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0x4154554E, 0x40000};
    return below(3) == 0 ? static_cast<std::uint32_t>(below(40)) : kValues[below(kValues.size())];
  }

  void change_header(std::string& bytes) {
    // Page size, format versions, counts, free list, schema, sizes, encoding, user version, application.
    constexpr std::array<std::size_t, 16> kFields{16, 18, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 68, 96};
    write_u32(bytes, kFields[below(kFields.size())], interesting());
  }

  /// A letter of the schema's SQL, or of a stored text.
  void change_word(std::string& bytes, std::size_t page) {
    constexpr std::array<std::string_view, 10> kWords{"CREATE", "TABLE", "INDEX",    "UNIQUE",  "records",
                                                      "table",  "index", "checksum", "WITHOUT", "sqlite_"};
    constexpr std::array<std::string_view, 14> kOthers{
        "SELECT", "VIEW",      "view",    "TRIGGER", "trigger",       "records", "main.best", "load_extension('x')",
        "WITH",   "GENERATED", "DEFAULT", "CHECK",   "sqlite_master", "fts5"};
    const std::size_t found = bytes.find(kWords[below(kWords.size())], page + below(kPage));
    if (found == std::string::npos) return;
    const auto word = kOthers[below(kOthers.size())];
    for (std::size_t i = 0; i < word.size() && found + i < bytes.size(); ++i) bytes[found + i] = word[i];
  }

  void change_page_header(std::string& bytes, std::size_t page) {
    constexpr std::array<char, 6> kKinds{2, 5, 10, 13, 0, 1};
    const std::size_t at = page + (page == 0 ? 100 : 0);
    const std::size_t field = below(12);
    bytes[at + field] = field == 0 ? kKinds[below(kKinds.size())] : static_cast<char>(below(2) == 0 ? below(256) : below(4));
  }

  /// The place of a cell, or its first bytes: lengths, key, header, column types, overflow page.
  void change_cell(std::string& bytes, std::size_t page) {
    const std::size_t at = page + (page == 0 ? 100 : 0);
    const std::size_t head = at + (bytes[at] == 2 || bytes[at] == 5 ? 12 : 8);
    const std::size_t cells = read_u32(bytes, at + 3) >> 16;
    if (cells == 0 || cells > kPage / 4) return;
    const std::size_t pointer = head + 2 * below(cells);
    if (pointer + 2 > page + kPage) return;
    if (below(4) == 0) {
      bytes[pointer + below(2)] = static_cast<char>(below(256));
      return;
    }
    const std::size_t cell = page + static_cast<unsigned char>(bytes[pointer]) * 256U + static_cast<unsigned char>(bytes[pointer + 1]);
    const std::size_t target = cell + below(24);
    if (target >= page + kPage || target >= bytes.size()) return;
    bytes[target] = below(3) == 0 ? static_cast<char>(0xff) : static_cast<char>(below(256));
  }

  DatabaseInput& input_;
  std::mt19937_64& random_;
};

}  // namespace

DatabaseInput DatabaseInput::read(const std::string& text) {
  DatabaseInput input;
  const std::size_t journal = text.rfind(kJournalMark);
  const std::size_t end = std::min(journal, text.size());
  if (journal != std::string::npos) input.journal = text.substr(journal + kJournalMark.size());
  const std::size_t wal = std::string_view(text).substr(0, end).rfind(kWalMark);
  if (wal != std::string::npos) input.wal = text.substr(wal + kWalMark.size(), end - wal - kWalMark.size());
  input.file = text.substr(0, std::min(wal, end));
  return input;
}

std::string DatabaseInput::text() const {
  std::string text = file;
  if (!wal.empty()) text.append(kWalMark).append(wal);
  if (!journal.empty()) text.append(kJournalMark).append(journal);
  return text;
}

std::string journal_of(const std::string& file, const std::vector<std::uint32_t>& pages, const std::string& super) {
  constexpr std::uint32_t kNonce = 0x12345678, kLockPage = 0x40000000 / kPage + 1;
  std::string journal(kJournalMagic);
  for (const std::size_t field : {pages.size(), std::size_t{kNonce}, file.size() / kPage, kSector, kPage})
    journal += u32(static_cast<std::uint32_t>(field));
  journal.resize(kSector);
  for (const std::uint32_t page : pages) {
    journal += u32(page);
    journal.append(file, (page - 1) * kPage, kPage).append(u32(0));
  }
  seal_journal(journal);
  if (super.empty()) return journal;
  std::uint32_t sum = 0;
  for (const char c : super) sum += static_cast<std::uint32_t>(static_cast<signed char>(c));
  return journal + u32(kLockPage) + super + u32(static_cast<std::uint32_t>(super.size())) + u32(sum) + std::string(kJournalMagic);
}

void change_database(std::string& input, std::mt19937_64& random) {
  auto files = DatabaseInput::read(input);
  PageChanges(files, random).apply();
  input = files.text();
}

void seal_database(std::string& input, std::mt19937_64& random) {
  if (random() % 8 == 0) return;
  auto files = DatabaseInput::read(input);
  seal_wal(files.wal);
  if (!files.journal.empty() && files.journal.find(kJournalMagic, kSector) == std::string::npos) seal_journal(files.journal);
  input = files.text();
}

}  // namespace attune::test
