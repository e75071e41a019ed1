#include "db/exchange.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
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

/// Checks rows, then offers them to a database.
class StoringSink : public RowSink {
 public:
  StoringSink(Database& database, RowSink& rules, std::string source, bool names_rows)
      : database_(database), rules_(rules), source_(std::move(source)), names_rows_(names_rows) {}
  void take(const DeviceRow& row) override { store(row); }
  void take(const TemplateRow& row) override { store(row); }
  void take(const SessionRow& row) override { store(row); }
  void take(const RecordRow& row) override { store(row); }
  void take(const BestRow& row) override {
    check(row, [&] { require_verified(row); });
    store(row);
  }

  RowCounts rows;
  RowCounts stored;
  int line = 0;

 private:
  template <class Row, class Work>
  void check(const Row& row, Work&& work) {
    at_place(source_, line, names_rows_ ? name_of(row) : std::string(), work);
  }

  template <class Row>
  void store(const Row& row) {
    check(row, [&] {
      check_.take(row);
      rules_.take(row);
    });
    ++count_of(rows, row);
    if (database_.offer(row)) ++count_of(stored, row);
  }

  /// Nothing unverified is ever dispatched, wherever it comes from.
  void require_verified(const BestRow& row) const {
    const Query query{row.template_hash, std::nullopt, row.problem, row.device_key, row.policy};
    const auto record = database_.record(query, row.configuration);
    if (record && (record->outcome != "ok" || !record->verified)) {
      throw Error(fmt::format("the record of its configuration says {}{}; only verified ones are dispatched", record->outcome,
                              record->verified ? "" : ", not verified"));
    }
  }

  Database& database_;
  RowSink& rules_;
  RowCheck check_;
  std::string source_;
  bool names_rows_;
};

/// The lines of a file in their order: a header, rows, the end.
class LineOrder {
 public:
  explicit LineOrder(StoringSink& sink) : sink_(sink) {}

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
  StoringSink& sink_;
  LineKind last_ = LineKind::Row;
  EndOfRows end_;
  Digest digest_;
};

void read_lines(base::LineReader& reader, const std::string& file, StoringSink& sink, const OnRow& on_row) {
  LineOrder order(sink);
  const auto at_line = [&](auto&& work) {
    try {
      work();
    } catch (const SpecError&) {
      throw;  // a row's, and placed already
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
  Database::Batch batch(database);
  StoringSink sink(database, rules, name, false);
  read_lines(lines, name, sink, on_row);
  batch.commit();
  return {sink.rows, sink.stored, {}};
}

ImportReport merge_files(Database& database, const std::vector<fs::path>& files, RowSink& rules, const OnRow& on_row) {
  return merge_opened(database, open_for_merging(database.path(), files), rules, on_row);
}

std::vector<Database> open_for_merging(const fs::path& target, const std::vector<fs::path>& files) {
  std::vector<Database> others;
  for (const fs::path& file : files) {
    std::error_code error;
    if (!fs::exists(file, error)) throw UsageError(fmt::format("failed merging {}: there is no such file", file.string()));
    if (fs::is_directory(file, error)) throw UsageError(fmt::format("failed merging {}: it is a folder; name database files", file.string()));
    if (fs::equivalent(file, target, error)) throw UsageError(fmt::format("failed merging {}: it is the database itself", file.string()));
    others.push_back(Database::open(file, OpenMode::ReadOnly));
  }
  return others;
}

ImportReport merge_opened(Database& database, const std::vector<Database>& others, RowSink& rules, const OnRow& on_row) {
  ImportReport report;
  Database::Batch batch(database);
  for (const Database& other : others) {
    StoringSink sink(database, rules, other.path().string(), true);
    CountingSink counting(sink, report.rows.all(), on_row);
    const LeftOut left = other.for_each_row(counting);
    report.left_out.damaged += left.damaged;
    report.left_out.unsourced += left.unsourced;
    report.left_out.orphaned += left.orphaned;
    add(report.rows, sink.rows);
    add(report.stored, sink.stored);
  }
  batch.commit();
  return report;
}

}  // namespace attune::db
