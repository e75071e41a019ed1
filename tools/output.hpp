#pragma once
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "db/database.hpp"
#include "db/records.hpp"

namespace attune::tools {

/// A plain-text table, each cell on its line whatever it holds: columns as wide as their widest cell, numbers right-aligned, one
/// space-padded line a row.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> headers) { add(std::move(headers)); }
  void add(std::vector<std::string> row);
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// A JSON text that says the same to every reader and does nothing to a terminal: DEL, C1 and what turns the direction of writing
/// are JSON escapes, as C0 always is. What is not UTF-8 is replaced.
[[nodiscard]] std::string json_text(const nlohmann::json& value, int indent = -1);
/// Such a text and a line end on standard output. Throws: EnvironmentError when it cannot be written.
void print_json(const nlohmann::json& value, int indent = -1);

/// What opening the database had to say (a file set aside, a fallback), on standard error.
void print_notices(const db::Database& database);
/// Tells on standard error how many of the rows that were read until now were damaged, if any.
void print_damaged(const db::Database& database, const std::filesystem::path& path);

/// {"block_size":256,"items":4} -> "block_size=256 items=4".
[[nodiscard]] std::string short_configuration(const std::string& canonical_json);

/// Microseconds with three significant decimals below 100.
[[nodiscard]] std::string format_us(double us);

/// The table of best rows that `tune` and `show` print. `ceiling_bytes_per_s`: 0 when unknown.
[[nodiscard]] std::string best_table(const std::vector<db::BestRow>& rows, double ceiling_bytes_per_s);

}  // namespace attune::tools
