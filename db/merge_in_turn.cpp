#include "db/merge_in_turn.hpp"

#include <set>

#include "db/exchange_parts.hpp"
#include "db/merging.hpp"
#include "db/refusal_place.hpp"
#include "db/row_check.hpp"

namespace attune::db {
namespace {

/// Checks rows and hands them on at once: the transaction around it takes back what came before a refusal.
class Checked : public RowSink {
 public:
  Checked(RowSink& next, RowSink& rules, std::string name, std::function<void()> on_row)
      : next_(next), rules_(rules), name_(std::move(name)), on_row_(std::move(on_row)) {}
  void take(const DeviceRow& row) override { give(row); }
  void take(const TemplateRow& row) override { give(row); }
  void take(const SessionRow& row) override { give(row); }
  void take(const RecordRow& row) override { give(row); }
  void take(const BestRow& row) override {
    // Of a template without a reference there is nothing else, and it stays where it is, refused or not.
    if (row.objective != BestRow().objective) {
      ++unverified;
      return;
    }
    give(row);
  }

  RowCounts rows;
  std::uint64_t unverified = 0;  ///< best rows left out

 private:
  template <class Row>
  void give(const Row& row) {
    at_place(name_, 0, name_of(row), [&] {
      check_.take(row);
      rules_.take(row);
    });
    ++count_of(rows, row);
    on_row_();
    next_.take(row);
  }

  RowSink& next_;
  RowSink& rules_;
  RowCheck check_;
  std::string name_;
  std::function<void()> on_row_;
};

/// What `take_best` asks of a database: its devices and templates, so that rows that refer to them can be checked, and its best rows.
class OnlyBest : public RowSink {
 public:
  explicit OnlyBest(Merging& merging) : merging_(merging) {}
  void take(const DeviceRow&) override {}
  void take(const TemplateRow&) override {}
  void take(const SessionRow&) override {}
  void take(const RecordRow&) override {}
  void take(const BestRow& row) override { merging_.offer_best(row, false); }

 private:
  Merging& merging_;
};

void add(RowCounts& sum, const RowCounts& more) {
  sum.devices += more.devices;
  sum.templates += more.templates;
  sum.sessions += more.sessions;
  sum.records += more.records;
  sum.best += more.best;
}

void add(LeftOut& sum, const LeftOut& more) {
  sum.damaged += more.damaged;
  sum.unsourced += more.unsourced;
  sum.orphaned += more.orphaned;
}

}  // namespace

std::uint64_t MergeInTurn::take_rows(const Database& other, const OnRow& on_row) {
  const std::uint64_t before = report_.rows.all();
  Database::Batch batch(database_);
  const std::function<void()> nothing = [] {};
  Merging merging(database_, nothing);
  std::uint64_t read = 0;
  Checked checked(merging, rules_, other.path().string(), [&] {
    ++read;
    if (on_row) on_row(before + read);
  });
  const LeftOut left = other.for_each_row(checked, Database::BestRows::None);
  merging.forget_contradicted();
  batch.commit();
  add(report_.rows, checked.rows);
  add(report_.stored, merging.stored);
  add(report_.left_out, left);
  report_.left_out.contradicted += merging.contradicted;
  report_.left_out.unverified += merging.unverified;
  return read;
}

void MergeInTurn::take_best(const Database& other, const OnRow& on_row) {
  Database::Batch batch(database_);
  const std::function<void()> nothing = [] {};
  Merging merging(database_, nothing);
  OnlyBest best(merging);
  std::uint64_t read = 0;
  Checked checked(best, rules_, other.path().string(), [&] {
    if (on_row) on_row(report_.rows.all() + ++read);
  });
  const LeftOut left = other.for_each_row(checked, Database::BestRows::Alone);
  batch.commit();
  add(report_.left_out, left);
  report_.rows.best += checked.rows.best;
  report_.stored.best += merging.stored.best;
  report_.left_out.contradicted += merging.contradicted;
  report_.left_out.unverified += merging.unverified + checked.unverified;
}

}  // namespace attune::db
