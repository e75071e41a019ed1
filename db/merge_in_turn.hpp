#pragma once
#include <cstdint>
#include <functional>

#include "db/database.hpp"
#include "db/exchange.hpp"

namespace attune::db {

/// Merges any number of databases, one open at a time, in memory that does not depend on how many there are or how long they are: what
/// db::merge_opened does with all of them open. Two walks: first `take_rows` of every database, then `take_best` of every one, since
/// whether a best row counts is said by the records of all. What it comes to is the same in whatever order the databases come, as far as
/// exports show. Each call is a transaction: one that ends early leaves the others as they are, the same walks again complete it, and other
/// processes may write between two calls.
class MergeInTurn {
 public:
  /// Requires: both outlive this; `database` is open for writing, without a Batch.
  MergeInTurn(Database& database, RowSink& rules) : database_(database), rules_(rules) {}

  /// Everything but best rows, each checked before it is stored. Returns how many rows were read.
  /// Throws: SpecError naming the file and the row that is refused, DatabaseError, what `on_row` throws; nothing of `other` is stored then.
  std::uint64_t take_rows(const Database& other, const OnRow& on_row = {});
  /// Best rows, of which those without a verified record in what was merged are left out and counted. Throws: as `take_rows`.
  void take_best(const Database& other, const OnRow& on_row = {});
  /// Of all calls so far.
  [[nodiscard]] const ImportReport& report() const { return report_; }

 private:
  Database& database_;
  RowSink& rules_;
  ImportReport report_;
};

}  // namespace attune::db
