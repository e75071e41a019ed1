#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "db/database.hpp"
#include "db/exchange.hpp"

namespace attune::db {

/// The checked rows of one database, all but best rows, as far as they take no more memory than kMostBytes; a longer database is read
/// again.
class CheckedRows {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;

  [[nodiscard]] bool all_kept() const { return bytes_ <= kMostBytes; }
  /// About what is kept.
  [[nodiscard]] std::size_t bytes() const { return all_kept() ? bytes_ : 0; }

 private:
  friend class Checking;
  friend class MergeInTurn;
  template <class Row>
  void keep(const Row& row);

  /// The one thread that stores does not make what those that check can make.
  struct Record {
    RecordRow row;
    std::string key, sum;
  };
  using Rows = std::vector<std::variant<DeviceRow, TemplateRow, SessionRow, Record>>;

  Rows rows_;              ///< in the order in which they are merged
  std::size_t bytes_ = 0;  ///< about
  LeftOut left_out_;
};

/// Looks at every row of a database as a merge does, and stores nothing: what several threads may do at a time, each with databases and
/// rules of its own. Throws: SpecError naming the file and the row that is refused, DatabaseError, what `on_row` throws.
[[nodiscard]] CheckedRows check_rows(const Database& other, RowSink& rules, const OnRow& on_row = {});

/// Merges any number of databases, one after the other, in memory that does not depend on how many there are or how long they are: what
/// db::merge_opened does with all of them open. Two walks: first `take_rows` of every database, then `take_best` of every one, since
/// whether a best row counts is said by the records of all. What it comes to is the same in whatever order the databases come, as far as
/// exports show. It commits every fifteen seconds, so that others who write wait no longer than that: a merge that ends early leaves a
/// sound database with a part of the rows, and the same walks again complete it.
class MergeInTurn {
 public:
  /// `rules`: those of check_rows, for rows that are read again. Requires: both outlive this; `database` is open for writing, without a
  /// Batch.
  MergeInTurn(Database& database, RowSink& rules);

  /// Everything but best rows. `checked`: of `other`; where not all are kept they are read, and checked, again. Throws: DatabaseError,
  /// SpecError (as check_rows), what `on_row` throws; rows that came before are stored all the same.
  void take_rows(const Database& other, const CheckedRows& checked, const OnRow& on_row = {});
  /// Best rows; those without a verified record in what was merged are left out and counted. Throws: as take_rows.
  void take_best(const Database& other, const OnRow& on_row = {});
  /// How long the open transaction may still wait for rows: whoever has none by then calls `finish`. 0 without a transaction.
  [[nodiscard]] std::chrono::nanoseconds left() const;
  /// Without it the rows since the last commit are not stored. Throws: DatabaseError.
  void finish();
  /// Of all calls so far.
  [[nodiscard]] const ImportReport& report() const { return report_; }

 private:
  using Clock = std::chrono::steady_clock;
  void begin();
  void commit_when_due();

  Database& database_;
  RowSink& rules_;
  std::optional<Database::Batch> batch_;
  Clock::time_point begun_;
  ImportReport report_;
};

}  // namespace attune::db
