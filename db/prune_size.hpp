#pragma once
#include <cstdint>
#include <optional>

#include "db/statements.hpp"

namespace attune::db {

/// What a file takes while rows are taken out of it, by estimate: pages are never full, and short fields are only guessed at.
/// Every table and index keeps a page, however empty; what is above that shrinks as the contents do.
class PruneSize {
 public:
  /// `content_bytes`: of all rows of all tables. Requires: a transaction. Throws: what SQLite throws.
  PruneSize(StatementCache& statements, std::uint64_t content_bytes);

  /// The file is to be no larger than this once it is vacuumed.
  void aim_at(std::uint64_t goal_bytes) { goal_bytes_ = goal_bytes; }
  /// Contents go. Returns what they take in the file.
  std::uint64_t take(double content_bytes);

  /// False without a goal: all that may go goes then. A little to the safe side.
  [[nodiscard]] bool is_enough() const;
  /// All that may go is gone, and that is not enough; a goal below `least_bytes` is never reached.
  [[nodiscard]] bool is_missed() const { return goal_bytes_ && left_bytes() > *goal_bytes_; }
  [[nodiscard]] std::uint64_t bytes_of_rows() const { return bytes_of_rows_; }
  [[nodiscard]] std::uint64_t least_bytes() const { return least_bytes_; }
  [[nodiscard]] std::uint64_t taken_bytes() const { return in_file(taken_); }

 private:
  [[nodiscard]] std::uint64_t in_file(double content_bytes) const { return static_cast<std::uint64_t>(content_bytes * overhead_ + 0.5); }
  [[nodiscard]] std::uint64_t left_bytes() const { return least_bytes_ + (content_ > taken_ ? in_file(content_ - taken_) : 0); }

  std::uint64_t bytes_of_rows_ = 0;  ///< pages that are free already are not counted
  std::uint64_t least_bytes_ = 0;    ///< of a file without any row
  double content_ = 0, taken_ = 0;   ///< not integers: texts go by averages
  double overhead_ = 1;              ///< what a byte of contents takes in the file
  std::optional<std::uint64_t> goal_bytes_;
};

}  // namespace attune::db
