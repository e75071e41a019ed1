#include "db/exchange.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "attune/error.hpp"
#include "db/exchange_lines.hpp"
#include "db/row_check.hpp"
#include "tuner/base/hash.hpp"

namespace attune::db {
namespace {

namespace fs = std::filesystem;

std::uint64_t& count_of(RowCounts& counts, const DeviceRow&) { return counts.devices; }
std::uint64_t& count_of(RowCounts& counts, const TemplateRow&) { return counts.templates; }
std::uint64_t& count_of(RowCounts& counts, const SessionRow&) { return counts.sessions; }
std::uint64_t& count_of(RowCounts& counts, const RecordRow&) { return counts.records; }
std::uint64_t& count_of(RowCounts& counts, const BestRow&) { return counts.best; }

/// What the digest of a file is made of: the checksums of its rows, as one text.
class Digest {
 public:
  void add(std::string_view checksum) { hasher_.add(checksum); }
  [[nodiscard]] std::string key() const { return hasher_.key(); }

 private:
  base::ContentHasher hasher_;
};

class LineSink : public RowSink {
 public:
  LineSink(const std::function<void(const std::string&)>& write, const OnRow& on_row) : write_(write), on_row_(on_row) {}
  void take(const DeviceRow& row) override { give(row); }
  void take(const TemplateRow& row) override { give(row); }
  void take(const SessionRow& row) override { give(row); }
  void take(const RecordRow& row) override { give(row); }
  void take(const BestRow& row) override { give(row); }

  [[nodiscard]] const RowCounts& counts() const { return counts_; }
  [[nodiscard]] std::string digest() const { return digest_.key(); }

 private:
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
  Digest digest_;
};

/// Names a row in an error: "the record {...} of {...}".
std::string name_of(const DeviceRow& row) { return "the device " + row.hard_key; }
std::string name_of(const TemplateRow& row) { return fmt::format("the template '{}' {}", row.name, row.hash); }
std::string name_of(const SessionRow& row) { return "the session " + row.key; }
std::string name_of(const RecordRow& row) { return fmt::format("the record of {} for {}", row.configuration, row.problem); }
std::string name_of(const BestRow& row) { return fmt::format("the best row for {}", row.problem); }

/// A refusal of `work` is told at its place in the file, whatever place the refusal itself names: a template has lines of its
/// own. The database's failures, and being interrupted, stay what they are.
template <class Work>
void at_place(const std::string& file, int line, const std::string& row, Work&& work) {
  try {
    work();
  } catch (const DatabaseError&) {
    throw;
  } catch (const Error& error) {
    if (error.exit_code() == ExitCode::Interrupted) throw;
    throw SpecError(file, line, line > 0 ? 1 : 0, row.empty() ? std::string(error.what()) : row + ": " + error.what());
  }
}

Query problem_of(const BestRow& row) { return {row.template_hash, std::nullopt, row.problem, row.device_key, row.policy}; }
Query problem_of(const RecordRow& row) { return {row.template_hash, std::nullopt, row.problem, row.device_key, row.policy}; }

std::string why_not_verified(const RecordRow& record) {
  return fmt::format("the record of its configuration says {}{}; only verified ones are dispatched", record.outcome, record.verified ? "" : ", not verified");
}

/// A best row whose record the file does not hold: the database has to.
struct Unproved {
  std::string source;
  int line = 0;
  BestRow row;
};

/// The rows of one file, checked, in a database of their own: checking them takes as long as it takes, and nobody waits for the
/// lock of the database that they are for.
class Staging : public RowSink {
 public:
  Staging(RowSink& rules, std::string source, bool names_rows)
      : staged_(Database::open_temporary()), batch_(std::make_unique<Database::Batch>(staged_)), rules_(rules), source_(std::move(source)), names_rows_(names_rows) {}
  void take(const DeviceRow& row) override { store(row); }
  void take(const TemplateRow& row) override { store(row); }
  void take(const SessionRow& row) override { store(row); }
  void take(const RecordRow& row) override { store(row); }
  void take(const BestRow& row) override {
    at_place(source_, line, named(row), [&] {
      const auto record = staged_.record(problem_of(row), row.configuration);
      if (record && !is_verified(*record)) throw Error(why_not_verified(*record));
      if (!record) unproved.push_back({source_, line, row});
    });
    store(row);
  }
  void finish() { batch_->commit(); }
  [[nodiscard]] const Database& staged() const { return staged_; }

  RowCounts rows;
  std::vector<Unproved> unproved;
  int line = 0;

 private:
  template <class Row>
  [[nodiscard]] std::string named(const Row& row) const {
    return names_rows_ ? name_of(row) : std::string();
  }

  template <class Row>
  void store(const Row& row) {
    at_place(source_, line, named(row), [&] {
      check_.take(row);
      rules_.take(row);
    });
    ++count_of(rows, row);
    staged_.offer(row);
  }

  Database staged_;
  std::unique_ptr<Database::Batch> batch_;
  RowSink& rules_;
  RowCheck check_;
  std::string source_;
  bool names_rows_;
};

/// Offers checked rows to the database that they are for, which has a batch open.
class Merging : public RowSink {
 public:
  Merging(Database& database, const std::function<void()>& on_row) : database_(database), on_row_(on_row) {}
  void take(const DeviceRow& row) override { offer(row); }
  void take(const TemplateRow& row) override { offer(row); }
  void take(const SessionRow& row) override { offer(row); }
  void take(const RecordRow& row) override {
    if (offer(row) && !is_verified(row)) failed_.push_back(row);
  }
  void take(const BestRow& row) override {
    const auto record = database_.record(problem_of(row), row.configuration);
    if (record && !is_verified(*record)) {
      ++contradicted;
    } else {
      offer(row);
    }
  }

  /// Best rows that were there, of configurations that fail by what has come.
  void forget_contradicted() {
    for (const RecordRow& record : failed_) {
      const auto best = database_.best_of(problem_of(record));
      if (!best || best->configuration != record.configuration) continue;
      database_.forget_best(problem_of(record));
      ++contradicted;
    }
  }

  RowCounts stored;
  std::uint64_t contradicted = 0;

 private:
  template <class Row>
  bool offer(const Row& row) {
    on_row_();
    const bool taken = database_.offer(row);
    if (taken) ++count_of(stored, row);
    return taken;
  }

  Database& database_;
  const std::function<void()>& on_row_;
  std::vector<RecordRow> failed_;
};

/// The lines of a file in their order: a header, rows, the end.
class LineOrder {
 public:
  explicit LineOrder(Staging& sink) : sink_(sink) {}

  void read(std::string_view line) {
    if (last_ == LineKind::End) throw Error("there is a line behind the end");
    last_ = read_line(line, sink_, end_);
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
  EndOfRows end_;
  Digest digest_;
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
  for (const auto& staging : stagings) {
    for (const Unproved& best : staging->unproved) {
      if (database.record(problem_of(best.row), best.row.configuration)) continue;
      at_place(best.source, best.line, name_of(best.row), [] {
        throw Error("the record of its configuration is neither in the file nor in the database; only verified ones are dispatched");
      });
    }
    (void)staging->staged().for_each_row(merging, Database::BestRows::All);
  }
  merging.forget_contradicted();
  batch.commit();
  report.stored = merging.stored;
  report.left_out.contradicted = merging.contradicted;
  return report;
}

/// Passes rows on and tells how many there were.
class CountingSink : public RowSink {
 public:
  CountingSink(RowSink& next, std::uint64_t before, const OnRow& on_row) : next_(next), done_(before), on_row_(on_row) {}
  void take(const DeviceRow& row) override { give(row); }
  void take(const TemplateRow& row) override { give(row); }
  void take(const SessionRow& row) override { give(row); }
  void take(const RecordRow& row) override { give(row); }
  void take(const BestRow& row) override { give(row); }

 private:
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

ExportReport export_lines(const Database& database, const std::function<void(const std::string& line)>& write,
                          const OnRow& on_row) {
  LineSink sink(write, on_row);
  write(header_line());
  ExportReport report;
  report.left_out = database.for_each_row(sink);
  report.rows = sink.counts();
  write(end_line(report.rows, sink.digest()));
  return report;
}

ImportReport import_file(Database& database, const fs::path& file, RowSink& rules, const OnRow& on_row) {
  base::LineReader lines(file);
  return import_lines(database, lines, file.string(), rules, on_row);
}

ImportReport import_lines(Database& database, base::LineReader& lines, const std::string& name, RowSink& rules, const OnRow& on_row) {
  Stagings stagings;
  stagings.push_back(std::make_unique<Staging>(rules, name, false));
  read_lines(lines, name, *stagings.back(), on_row);
  stagings.back()->finish();
  return merge_staged(database, stagings, on_row);
}

ImportReport merge_files(Database& database, const std::vector<fs::path>& files, RowSink& rules, const OnRow& on_row) {
  return merge_opened(database, open_for_merging(database.path(), files), rules, on_row);
}

std::vector<Database> open_for_merging(const fs::path& target, const std::vector<fs::path>& files, const KeepGoing& keep_going) {
  std::vector<Database> others;
  for (const fs::path& file : files) {
    std::error_code error;
    if (!fs::exists(file, error)) throw UsageError(fmt::format("failed merging {}: there is no such file", file.string()));
    if (fs::is_directory(file, error)) throw UsageError(fmt::format("failed merging {}: it is a folder; name database files", file.string()));
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
    stagings.push_back(std::make_unique<Staging>(rules, other.path().string(), true));
    CountingSink counting(*stagings.back(), rows, on_row);
    const LeftOut of_one = other.for_each_row(counting);
    left.damaged += of_one.damaged;
    left.unsourced += of_one.unsourced;
    left.orphaned += of_one.orphaned;
    left.unverified += of_one.unverified;
    stagings.back()->finish();
    rows += stagings.back()->rows.all();
  }
  ImportReport report = merge_staged(database, stagings, on_row);
  left.contradicted = report.left_out.contradicted;
  report.left_out = left;
  return report;
}

}  // namespace attune::db
