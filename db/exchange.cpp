#include "db/exchange.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string_view>

#include "attune/error.hpp"
#include "db/every_row.hpp"
#include "db/exchange_lines.hpp"
#include "db/exchange_parts.hpp"
#include "db/merging.hpp"
#include "db/refusal_place.hpp"
#include "db/row_check.hpp"
#include "db/tables.hpp"

namespace attune::db {
namespace {

namespace fs = std::filesystem;

std::string why_not_verified(const RecordRow& record) {
  return fmt::format("the record of its configuration says {}{}; only verified ones are dispatched", record.outcome,
                     record.verified ? "" : ", not verified");
}

/// A best row whose record the file does not hold: the database has to.
struct Unproved {
  int line = 0;
  Query problem;
  std::string configuration;
};

enum class Source { File, Database };

/// The rows of one file, checked, in a database of their own: checking them takes as long as it takes, and nobody waits for the
/// lock of the database that they are for.
class Staging : public RowSink {
 public:
  Staging(RowSink& rules, std::string name, Source source)
      : staged_(Database::open_temporary()),
        batch_(std::make_unique<Database::Batch>(staged_)),
        rules_(rules),
        name_(std::move(name)),
        source_(source) {}
  void take(const DeviceRow& row) override { store(row); }
  void take(const TemplateRow& row) override { store(row); }
  void take(const SessionRow& row) override { store(row); }
  void take(const RecordRow& row) override { store(row); }
  void take(const BestRow& row) override {
    const auto record = staged_.record(problem_of(row), row.configuration);
    if (record && is_verified(*record)) return store(row);
    if (source_ == Source::Database) return keep_doubtful(row);
    if (record) refuse_at(name_, line, named(row), why_not_verified(*record));
    unproved_.push_back({line, problem_of(row), row.configuration});
    store(row);
  }
  /// Nothing more comes. Throws: SpecError, as every `take`.
  void finish() {
    batch_->commit();
    std::erase_if(unproved_, [&](const Unproved& best) {
      const auto record = staged_.record(best.problem, best.configuration);
      if (record && !is_verified(*record)) refuse_at(name_, best.line, best_name(best), why_not_verified(*record));
      return record.has_value();
    });
    if (source_ == Source::Database) return;
    const Info info = staged_.info();
    if (info.devices + info.templates + info.sessions + info.records + info.best != rows.all()) refuse_at(name_, line, "", kTwice);
  }
  /// Throws: SpecError naming a best row whose record is neither in the file nor in `database`.
  void require_proofs(const Database& database) const {
    for (const Unproved& best : unproved_) {
      if (database.record(best.problem, best.configuration)) continue;
      refuse_at(name_, best.line, best_name(best),
                "the record of its configuration is neither in the file nor in the database; only verified ones are dispatched");
    }
  }
  [[nodiscard]] const Database& staged() const { return staged_; }
  [[nodiscard]] bool is_doubtful(const BestRow& row) const { return doubtful_.contains(Table<BestRow>::key(row)); }

  RowCounts rows;
  std::uint64_t unverified = 0;  ///< best rows left out
  int line = 0;

 private:
  static constexpr const char* kTwice = "two rows of the file have one key; an export has one of each";

  static std::string best_name(const Unproved& best) { return fmt::format("the best row for {}", best.problem.problem.value()); }

  template <class Row>
  [[nodiscard]] std::string named(const Row& row) const {
    return source_ == Source::Database ? name_of(row) : std::string();
  }

  template <class Row>
  void store(const Row& row) {
    at_place(name_, line, named(row), [&] {
      check_.take(row);
      rules_.take(row);
    });
    ++count_of(rows, row);
    const bool taken = staged_.offer(row);
    // At once, and not only when all rows are counted: some kilobytes may unpack to one row a million times.
    if (!taken && source_ == Source::File) refuse_at(name_, line, "", kTwice);
  }

  /// A best row that its own database would not export. The record of another file may say that its configuration works.
  void keep_doubtful(const BestRow& row) {
    const auto why = why_refused([&] {
      check_.take(row);
      rules_.take(row);
    });
    if (why) {  // as of a template without a reference, which has no other best rows
      ++unverified;
      return;
    }
    ++count_of(rows, row);
    doubtful_.insert(Table<BestRow>::key(row));
    staged_.offer(row);
  }

  Database staged_;
  std::unique_ptr<Database::Batch> batch_;
  RowSink& rules_;
  RowCheck check_;
  std::string name_;
  Source source_;
  std::vector<Unproved> unproved_;
  std::set<std::string> doubtful_;  ///< keys of best rows without a verified record beside them
};

/// The lines of a file in their order: a header, rows, the end.
class LineOrder {
 public:
  explicit LineOrder(Staging& sink) : sink_(sink) {}

  void read(std::string_view line) {
    if (last_ == LineKind::End) throw Error("there is a line behind the end");
    last_ = read_line(line, sink_, schema_, end_);
    if ((sink_.line == 1) != (last_ == LineKind::Header)) throw Error("the header is the first line, and no other one");
    if (last_ == LineKind::Row) digest_.add(checksum_of(line));
  }

  void require_end() const {
    if (last_ != LineKind::End) throw Error("the file was cut: it does not end with its count of rows");
    if (end_.digest != digest_.key() || end_.counts.all() != sink_.rows.all()) {
      throw Error("the rows are not those that the last line counted: a line was removed, added or moved");
    }
  }

 private:
  Staging& sink_;
  LineKind last_ = LineKind::Row;
  int schema_ = Database::kSchemaVersion;
  EndOfRows end_;
  RowDigest digest_;
};

void read_lines(base::LineReader& reader, const std::string& file, Staging& sink, const OnRow& on_row) {
  LineOrder order(sink);
  const auto at_line = [&](auto&& work) {
    try {
      work();
    } catch (const SpecError&) {
      throw;  // a row's, and placed already
    } catch (const DatabaseError&) {
      throw;  // where rows are kept meanwhile
    } catch (const Error& error) {
      const char* const hint = sink.line <= 1 ? "; is it a file that `attune db export` wrote?" : "";
      at_place(file, sink.line, "", [&] { throw Error(error.what() + std::string(hint), error.exit_code()); });
    }
  };
  for (auto line = reader.next(); line; line = reader.next()) {
    sink.line = reader.line_number();
    at_line([&] { order.read(*line); });
    if (on_row) on_row(sink.rows.all());
  }
  at_line([&] { order.require_end(); });
}

void add(RowCounts& sum, const RowCounts& more) {
  sum.devices += more.devices;
  sum.templates += more.templates;
  sum.sessions += more.sessions;
  sum.records += more.records;
  sum.best += more.best;
}

using Stagings = std::vector<std::unique_ptr<Staging>>;

/// One transaction. Throws: SpecError naming the place of a best row whose record is nowhere; DatabaseError.
ImportReport merge_staged(Database& database, const Stagings& stagings, const OnRow& on_row) {
  ImportReport report;
  for (const auto& staging : stagings) add(report.rows, staging->rows);
  const std::function<void()> ask = [&] {
    if (on_row) on_row(report.rows.all());  // for what it throws: they were counted when they were read
  };
  Database::Batch batch(database);
  Merging merging(database, ask);
  for (const auto& staging : stagings) (void)staging->staged().for_each_row(merging, Database::BestRows::None);
  for (const auto& staging : stagings) staging->require_proofs(database);
  merging.forget_contradicted();
  for (const auto& staging : stagings) {
    staging->staged().for_each_best([&](const BestRow& row) { merging.offer_best(row, staging->is_doubtful(row)); });
    report.left_out.unverified += staging->unverified;
  }
  batch.commit();
  report.stored = merging.stored;
  report.left_out.contradicted = merging.contradicted;
  report.left_out.unverified += merging.unverified;
  return report;
}

/// Passes rows on and tells how many there were.
class CountingSink : public EveryRow<CountingSink> {
 public:
  CountingSink(RowSink& next, std::uint64_t before, const OnRow& on_row) : next_(next), done_(before), on_row_(on_row) {}

 private:
  friend class EveryRow<CountingSink>;
  template <class Row>
  void give(const Row& row) {
    next_.take(row);
    ++done_;
    if (on_row_) on_row_(done_);
  }
  RowSink& next_;
  std::uint64_t done_;
  const OnRow& on_row_;
};

}  // namespace

ImportReport import_lines(Database& database, base::LineReader& lines, const std::string& name, RowSink& rules, const OnRow& on_row) {
  Stagings stagings;
  stagings.push_back(std::make_unique<Staging>(rules, name, Source::File));
  read_lines(lines, name, *stagings.back(), on_row);
  stagings.back()->finish();
  return merge_staged(database, stagings, on_row);
}

std::vector<Database> open_for_merging(const fs::path& target, const std::vector<fs::path>& files, const KeepGoing& keep_going) {
  std::vector<Database> others;
  for (const fs::path& file : files) {
    std::error_code error;
    if (!fs::exists(file, error)) throw UsageError(fmt::format("failed merging {}: there is no such file", file.string()));
    if (fs::is_directory(file, error))
      throw UsageError(fmt::format("failed merging {}: it is a folder; name database files", file.string()));
    if (fs::equivalent(file, target, error)) throw UsageError(fmt::format("failed merging {}: it is the database itself", file.string()));
    others.push_back(Database::open(file, OpenMode::ReadOnly, keep_going));
  }
  return others;
}

ImportReport merge_opened(Database& database, const std::vector<Database>& others, RowSink& rules, const OnRow& on_row) {
  Stagings stagings;
  LeftOut left;
  std::uint64_t rows = 0;
  for (const Database& other : others) {
    stagings.push_back(std::make_unique<Staging>(rules, other.path().string(), Source::Database));
    CountingSink counting(*stagings.back(), rows, on_row);
    const LeftOut of_one = other.for_each_row(counting, Database::BestRows::All);
    left.damaged += of_one.damaged;
    left.unsourced += of_one.unsourced;
    left.orphaned += of_one.orphaned;
    stagings.back()->finish();
    rows += stagings.back()->rows.all();
  }
  ImportReport report = merge_staged(database, stagings, on_row);
  report.left_out.damaged = left.damaged;
  report.left_out.unsourced = left.unsourced;
  report.left_out.orphaned = left.orphaned;
  return report;
}

}  // namespace attune::db
