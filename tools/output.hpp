#pragma once
#include <string>
#include <vector>

#include "db/database.hpp"
#include "db/records.hpp"

namespace attune::tools {

/// A plain-text table: columns as wide as their widest cell, numbers right-aligned, one space-padded line a row.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> headers) : rows_{std::move(headers)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// What opening the database had to say (a file set aside, a fallback), on standard error.
void print_notices(const db::Database& database);

/// {"block_size":256,"items":4} -> "block_size=256 items=4".
[[nodiscard]] std::string short_configuration(const std::string& canonical_json);

/// Microseconds with three significant decimals below 100.
[[nodiscard]] std::string format_us(double us);

/// The table of best rows that `tune` and `show` print. `ceiling_bytes_per_s`: 0 when unknown.
[[nodiscard]] std::string best_table(const std::vector<db::BestRow>& rows, double ceiling_bytes_per_s);

}  // namespace attune::tools
