#pragma once
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>

#include "db/statements.hpp"
#include "db/tables.hpp"

namespace attune::db {

/// No row of ours takes less: its key and its checksum.
inline constexpr std::uint64_t kLeastRowBytes = 64;

/// A row as a statement of select_sql<Row> gives it.
template <class Row>
struct StoredRow {
  std::string key, sum;
  Row row;
  std::uint64_t bytes = 0;  ///< of its texts
  bool dangling = false;    ///< it names a text that is not found
  bool typed = false;       ///< what should be text is: a blob of the same bytes is another key to every index

  explicit StoredRow(Use& use) {
    ColumnReader read(use.row());
    read(key);
    read(sum);
    for_each_column<Row>([&](const auto& column) { read(row.*column.member); });
    bytes = read.bytes();
    constexpr int kBlobs = std::is_same_v<Row, TemplateFileRow> || std::is_same_v<Row, CubinRow> ? 1 : 0;
    typed = read.blobs() == kBlobs;
    dangling = read.nulls() > 0;
  }
  /// What it is stored under is its own key, and it is as it was stored.
  [[nodiscard]] bool good() const { return typed && intact(); }
  /// Good, or would be if it were stored again.
  [[nodiscard]] bool intact() const { return key == Table<Row>::key(row) && sum == checksum(key, row); }
  /// As it was stored, but asked for as another: a damaged index leads to it.
  [[nodiscard]] bool of_another_key(const std::string& wanted) const {
    const std::string own = Table<Row>::key(row);
    return own != wanted && sum == checksum(own, row);
  }
};

}  // namespace attune::db
