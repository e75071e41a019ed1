// What a database gives to a file: the lines of those of its rows that an import takes.
#include <set>

#include "db/every_row.hpp"
#include "db/exchange.hpp"
#include "db/exchange_lines.hpp"
#include "db/exchange_parts.hpp"
#include "db/row_check.hpp"
#include "db/tables.hpp"

namespace attune::db {
namespace {

class LineSink : public EveryRow<LineSink> {
 public:
  LineSink(const std::function<void(const std::string&)>& write, const OnRow& on_row) : write_(write), on_row_(on_row) {}

  [[nodiscard]] const RowCounts& counts() const { return counts_; }
  [[nodiscard]] std::string digest() const { return digest_.key(); }

 private:
  friend class EveryRow<LineSink>;
  template <class Row>
  void give(const Row& row) {
    const std::string line = line_of(row);
    digest_.add(checksum_of(line));
    write_(line);
    ++count_of(counts_, row);
    if (on_row_) on_row_(counts_.all());
  }

  const std::function<void(const std::string&)>& write_;
  const OnRow& on_row_;
  RowCounts counts_;
  RowDigest digest_;
};

/// Passes on what an import takes, by the checks that an import makes, and counts the rest: one row of what an older version, or a
/// program of its own, has stored would have the whole file refused.
class ImportableRows : public RowSink {
 public:
  ImportableRows(RowSink& next, RowSink& rules) : next_(next), rules_(rules) {}
  void take(const DeviceRow& row) override {
    if (!give(row)) left_.insert(row.hard_key);
  }
  void take(const TemplateRow& row) override {
    if (!give(row)) left_.insert(row.hash);
  }
  void take(const SessionRow& row) override {
    if (!is_orphaned(row)) give(row);
  }
  void take(const RecordRow& row) override {
    if (!is_orphaned(row) && !give(row)) left_.insert(Table<RecordRow>::key(row));
  }
  void take(const BestRow& row) override {
    if (is_orphaned(row)) return;
    if (left_.contains(record_key_of(row))) {
      ++unverified;
    } else {
      give(row);
    }
  }

  std::uint64_t refused = 0, orphaned = 0, unverified = 0;
  std::string first_refusal;

 private:
  /// Returns whether it was passed on.
  template <class Row>
  bool give(const Row& row) {
    const auto why = why_refused([&] {
      check_.take(row);
      rules_.take(row);
    });
    if (why) {
      if (++refused == 1) first_refusal = name_of(row) + ": " + *why;
      return false;
    }
    next_.take(row);
    return true;
  }

  template <class Row>
  bool is_orphaned(const Row& row) {
    const bool is = left_.contains(row.template_hash) || left_.contains(row.device_key);
    orphaned += is ? 1 : 0;
    return is;
  }

  RowSink& next_;
  RowSink& rules_;
  RowCheck check_;
  std::set<std::string> left_;  ///< keys of the devices, templates and records that were not passed on
};

}  // namespace

ExportReport export_lines(const Database& database, const std::function<void(const std::string& line)>& write, RowSink& rules,
                          const OnRow& on_row) {
  LineSink lines(write, on_row);
  ImportableRows importable(lines, rules);
  write(header_line());
  ExportReport report;
  report.left_out = database.for_each_row(importable);
  report.left_out.refused = importable.refused;
  report.left_out.orphaned += importable.orphaned;
  report.left_out.unverified += importable.unverified;
  report.first_refusal = importable.first_refusal;
  report.rows = lines.counts();
  write(end_line(report.rows, lines.digest()));
  return report;
}

}  // namespace attune::db
