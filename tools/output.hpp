#pragma once
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "db/database.hpp"
#include "db/records.hpp"
#include "tuner/base/roofline.hpp"

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

/// What an amount (bytes, operations) comes to in a time: "1234.5" billions a second, and "67.8%" of the most that the device can do; "-"
/// for what is not known.
struct RateCells {
  std::string rate = "-", share = "-";
};
/// 0: not known, for each of them.
[[nodiscard]] RateCells rate_cells(double amount, double us, double most_per_s);

/// What the template's metrics and objective are of the row, as members "metrics", "objective" and "power" of `best`, where it has them.
void add_metrics(nlohmann::json& best, const db::BestRow& row);

/// The table of best rows that `tune` and `show` print. It has GFLOP/s where the arithmetic of a row matters (base/roofline.hpp); metrics
/// follow it, a line for each row that has them.
[[nodiscard]] std::string best_table(const std::vector<db::BestRow>& rows, const base::Roofline& roofline);

}  // namespace attune::tools
