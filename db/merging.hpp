#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "db/database.hpp"
#include "db/records.hpp"

namespace attune::db {

/// Offers checked rows to the database that they are for, which has a batch open: all but the best rows of all files first, since
/// whether a best row counts is said by the records of all of them, in whatever order the files come.
class Merging : public RowSink {
 public:
  /// `on_row` is called for every row; what it throws ends the work. Requires: both outlive this.
  Merging(Database& database, const std::function<void()>& on_row) : database_(database), on_row_(on_row) {}
  void take(const DeviceRow& row) override { offer(row); }
  void take(const TemplateRow& row) override { offer(row); }
  void take(const SessionRow& row) override { offer(row); }
  void take(const RecordRow& row) override;
  /// The same, of a row whose key and checksum (db/tables.hpp) have been made.
  void take_known(const RecordRow& row, const std::string& key, const std::string& sum);
  void take(const BestRow&) override {}  // offer_best, later

  /// Best rows that were there, of configurations that fail by what has come. Requires: all records have come, as below.
  void forget_contradicted();
  /// `doubtful`: by the records of its own database.
  void offer_best(const BestRow& row, bool doubtful);

  RowCounts stored;
  std::uint64_t contradicted = 0, unverified = 0;

 private:
  template <class Row>
  bool offer(const Row& row);
  void note_failure(const RecordRow& row);
  void forget_unless_supported(const Query& problem);

  Database& database_;
  const std::function<void()>& on_row_;
  std::vector<Query> failed_;  ///< problems whose best configuration fails by a record that has come
};

}  // namespace attune::db
