#include "db/merge_in_turn.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "db/every_row.hpp"
#include "db/exchange_parts.hpp"
#include "db/merging.hpp"
#include "db/refusal_place.hpp"
#include "db/row_check.hpp"
#include "db/tables.hpp"

namespace attune::db {
namespace {

using namespace std::chrono_literals;

/// Others wait for a lock for half a minute (kBusyTimeoutMs). The longer a transaction, the fewer times a page of an index is written.
constexpr auto kLongestLock = 15s;
/// Pages of the indexes, which rows of other databases hit anywhere: those of ten million records take about as much.
constexpr int kCacheMiB = 1024;

void add(LeftOut& sum, const LeftOut& more) {
  sum.damaged += more.damaged;
  sum.unsourced += more.unsourced;
  sum.orphaned += more.orphaned;
}

/// About what a row takes in memory.
template <class Row>
std::size_t bytes_of(const Row& row) {
  std::size_t bytes = sizeof(Row);
  for_each_column<Row>([&]<class Value>(const Column<Row, Value>& column) {
    if constexpr (std::is_same_v<Value, std::string>) bytes += (row.*column.member).size();
  });
  if constexpr (std::is_same_v<Row, TemplateRow>) {
    for (const auto& [name, contents] : row.files) bytes += name.size() + contents.size();
  }
  return bytes;
}

}  // namespace

template <class Row>
void CheckedRows::keep(const Row& row) {
  if (!all_kept()) return;
  bytes_ += bytes_of(row);
  if (!all_kept()) {
    Rows().swap(rows_);
  } else if constexpr (std::is_same_v<Row, RecordRow>) {
    const std::string key = Table<RecordRow>::key(row), sum = checksum(key, row);
    bytes_ += 2 * sizeof(std::string) + key.size() + sum.size();
    rows_.emplace_back(Record{row, key, sum});
  } else {
    rows_.emplace_back(row);
  }
}

/// What every row of one database has to obey before it is merged.
class Obeyed {
 public:
  Obeyed(RowSink& rules, const Database& other) : rules_(rules), name_(other.path().string()) {}
  /// Throws: SpecError naming the file and the row.
  template <class Row>
  void require(const Row& row) {
    const auto why = why_refused([&] {
      check_.take(row);
      rules_.take(row);
    });
    if (why) refuse_at(name_, 0, name_of(row), *why);
  }

 private:
  RowSink& rules_;
  RowCheck check_;
  std::string name_;
};

/// Checks rows, and keeps those that are merged first.
class Checking : public RowSink {
 public:
  Checking(RowSink& rules, const Database& other, const OnRow& on_row) : obeyed_(rules, other), on_row_(on_row) {}
  void take(const DeviceRow& row) override { check(row); }
  void take(const TemplateRow& row) override { check(row); }
  void take(const SessionRow& row) override { check(row); }
  void take(const RecordRow& row) override { check(row); }
  void take(const BestRow& row) override {
    // Others are of a template without a reference, and stay where they are.
    if (row.objective == BestRow().objective) check(row);
  }

  [[nodiscard]] CheckedRows finish(const LeftOut& left) {
    checked_.left_out_ = left;
    return std::move(checked_);
  }

 private:
  template <class Row>
  void check(const Row& row) {
    obeyed_.require(row);
    ++rows_;
    if (on_row_) on_row_(rows_);
    if constexpr (!std::is_same_v<Row, BestRow>) checked_.keep(row);
  }

  Obeyed obeyed_;
  const OnRow& on_row_;
  std::uint64_t rows_ = 0;
  CheckedRows checked_;
};

namespace {

/// Hands checked rows on, and counts them. Which best rows are doubtful is not asked: their own records have been merged.
class Taking : public EveryRow<Taking> {
 public:
  Taking(Merging& merging, RowCounts& rows, const OnRow& on_row) : merging_(merging), rows_(rows), on_row_(on_row) {}
  void take_known(const RecordRow& row, const std::string& key, const std::string& sum) {
    count(row);
    merging_.take_known(row, key, sum);
  }

 private:
  friend class EveryRow<Taking>;
  template <class Row>
  void count(const Row& row) {
    ++count_of(rows_, row);
    if (on_row_) on_row_(rows_.all());
  }
  template <class Row>
  void give(const Row& row) {
    count(row);
    merging_.take(row);
  }

  Merging& merging_;
  RowCounts& rows_;
  const OnRow& on_row_;
};

/// Rows that are read again: whoever can write the file may have changed it in place since it was checked.
class TakingAgain : public EveryRow<TakingAgain> {
 public:
  TakingAgain(Taking& taking, RowSink& rules, const Database& other) : taking_(taking), obeyed_(rules, other) {}

 private:
  friend class EveryRow<TakingAgain>;
  template <class Row>
  void give(const Row& row) {
    obeyed_.require(row);
    taking_.take(row);
  }

  Taking& taking_;
  Obeyed obeyed_;
};

/// Best rows, which are read again too. Devices and templates come along, for what the rows have to obey.
class TakingBest : public RowSink {
 public:
  TakingBest(Merging& merging, RowSink& rules, const Database& other, RowCounts& rows, const OnRow& on_row)
      : merging_(merging), obeyed_(rules, other), rows_(rows), on_row_(on_row) {}
  void take(const DeviceRow& row) override { obeyed_.require(row); }
  void take(const TemplateRow& row) override { obeyed_.require(row); }
  void take(const SessionRow&) override {}
  void take(const RecordRow&) override {}
  void take(const BestRow& row) override {
    if (row.objective != BestRow().objective) {
      ++merging_.unverified;
      return;
    }
    obeyed_.require(row);
    ++rows_.best;
    if (on_row_) on_row_(rows_.all());
    merging_.offer_best(row, false);
  }

 private:
  Merging& merging_;
  Obeyed obeyed_;
  RowCounts& rows_;
  const OnRow& on_row_;
};

const std::function<void()> kNothing = [] {};

/// Adds what a walk over one database came to, also when it ends early.
class Counted {
 public:
  Counted(const Merging& merging, ImportReport& report) : merging_(merging), report_(report) {}
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() {
    report_.stored.devices += merging_.stored.devices;
    report_.stored.templates += merging_.stored.templates;
    report_.stored.sessions += merging_.stored.sessions;
    report_.stored.records += merging_.stored.records;
    report_.stored.best += merging_.stored.best;
    report_.left_out.contradicted += merging_.contradicted;
    report_.left_out.unverified += merging_.unverified;
  }

 private:
  const Merging& merging_;
  ImportReport& report_;
};

}  // namespace

CheckedRows check_rows(const Database& other, RowSink& rules, const OnRow& on_row) {
  Checking checking(rules, other, on_row);
  const LeftOut left = other.for_each_row(checking, Database::BestRows::All);
  return checking.finish({left.damaged, left.unsourced, left.orphaned});
}

MergeInTurn::MergeInTurn(Database& database, RowSink& rules) : database_(database), rules_(rules) { database_.keep_in_memory(kCacheMiB); }

void MergeInTurn::begin() {
  if (batch_) return;
  batch_.emplace(database_);
  begun_ = Clock::now();
}

void MergeInTurn::commit_when_due() {
  if (batch_ && Clock::now() - begun_ >= kLongestLock) finish();
}

std::chrono::nanoseconds MergeInTurn::left() const {
  return batch_ ? std::max<std::chrono::nanoseconds>(begun_ + kLongestLock - Clock::now(), 0ns) : 0ns;
}

void MergeInTurn::finish() {
  if (!batch_) return;
  batch_->commit();
  batch_.reset();
}

void MergeInTurn::take_rows(const Database& other, const CheckedRows& checked, const OnRow& on_row) {
  begin();
  Merging merging(database_, kNothing);
  // A database of millions of rows is stored in several transactions too.
  const OnRow between = [&](std::uint64_t rows) {
    constexpr std::uint64_t kRowsBetween = 1000;
    if (rows % kRowsBetween == 0) {
      commit_when_due();
      begin();
    }
    if (on_row) on_row(rows);
  };
  {
    const Counted counted(merging, report_);
    Taking taking(merging, report_.rows, between);
    if (checked.all_kept()) {
      for (const auto& row : checked.rows_) {
        std::visit(
            [&]<class Row>(const Row& one) {
              if constexpr (std::is_same_v<Row, CheckedRows::Record>)
                taking.take_known(one.row, one.key, one.sum);
              else
                taking.take(one);
            },
            row);
      }
    } else {
      TakingAgain again(taking, rules_, other);
      static_cast<void>(other.for_each_row(again, Database::BestRows::None));
    }
    merging.forget_contradicted();
  }
  add(report_.left_out, checked.left_out_);
  commit_when_due();
}

void MergeInTurn::take_best(const Database& other, const OnRow& on_row) {
  begin();
  Merging merging(database_, kNothing);
  {
    const Counted counted(merging, report_);
    TakingBest taking(merging, rules_, other, report_.rows, on_row);
    static_cast<void>(other.for_each_row(taking, Database::BestRows::Alone));  // what it leaves out is counted by check_rows
  }
  commit_when_due();
}

}  // namespace attune::db
