#pragma once
#include <cstdint>
#include <string>
#include <tuple>

#include "db/statements.hpp"
#include "db/tables.hpp"

namespace attune::db {

/// No row of ours takes less: its key and its checksum.
inline constexpr std::uint64_t kLeastRowBytes = 64;

/// A row as a statement of Table<Row>::kSelect gives it.
template <class Row>
struct StoredRow {
  std::string key, sum;
  Row row;
  std::uint64_t bytes = 0;  ///< of its texts

  explicit StoredRow(Use& use) {
    ColumnReader read(use.row());
    read(key);
    read(sum);
    std::apply([&](auto... field) { (read(row.*field), ...); }, Table<Row>::kFields);
    bytes = read.bytes();
  }
  /// What it is stored under is its own key, and it is as it was stored.
  [[nodiscard]] bool good() const { return key == Table<Row>::key(row) && sum == checksum(key, row); }
  /// As it was stored, but asked for as another: a damaged index leads to it.
  [[nodiscard]] bool of_another_key(const std::string& wanted) const {
    const std::string own = Table<Row>::key(row);
    return own != wanted && sum == checksum(own, row);
  }
};

}  // namespace attune::db
