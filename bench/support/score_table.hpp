#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/support/json.hpp"

namespace attune::bench {

/// Rows of scores in a file, to which parts of a scoreboard are added as they end. A row is named by its "file", "strategy" and "warm".
class ScoreTable {
 public:
  /// What the file holds; empty where there is none. Throws: UsageError when it is no result of this benchmark's.
  ScoreTable(std::filesystem::path path, std::string bench);

  /// Whether there is a row with every member of `conditions` as it is there: the name of the row, and what its figures hold for.
  [[nodiscard]] bool has(const Json& conditions) const;
  /// Takes the place of the row of the same name. Throws: Error when a part of the name is missing.
  void put(Json row);
  /// Writes the file, one row a line, ordered by name, with `header` before the rows. Replaces an older one in one step.
  /// Throws: EnvironmentError.
  void write(const Json& header) const;

  [[nodiscard]] const std::vector<Json>& rows() const { return rows_; }

 private:
  std::filesystem::path path_;
  std::string bench_;
  std::vector<Json> rows_;  ///< ordered by name
};

}  // namespace attune::bench
