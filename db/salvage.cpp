#include "db/salvage.hpp"

#include <fmt/core.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "db/cells.hpp"
#include "db/guard.hpp"
#include "db/migrations.hpp"
#include "db/row_sql.hpp"
#include "db/sqlite_error.hpp"
#include "db/stored_row.hpp"
#include "tuner/base/hash.hpp"

namespace attune::db {
namespace {

/// The rows of a damaged file in a database of its own, which has neither keys nor checks: what of them is good, their checksums say.
class LooseRows {
 public:
  /// Throws: SQLite::Exception; Error (ExitCode::Interrupted).
  LooseRows(const std::filesystem::path& damaged, const KeepGoing& keep_going) : guard_(sqlite_, damaged, keep_going) {
    take_long_values(sqlite_);
    // Nothing touches the disk as long as this is enough; what is more goes to a temporary file.
    sqlite_.exec("PRAGMA cache_size = -65536");
    sqlite_.exec("PRAGMA journal_mode = OFF");
    guard_.watch("reading", [&] {
      sqlite_.exec("BEGIN");
      make_tables();
      for_each_cell(
          damaged, [&] { guard_.begin("reading"); }, [&](const Cell& cell) { add(cell); });
      keep_few("records", "key");
      keep_few("metrics", "record_key, name");
      sqlite_.exec("CREATE INDEX metrics_by_record ON metrics (record_key, name)");
      sqlite_.exec("COMMIT");
    });
  }

  /// Every good row, in the order of the file's table. A row may come twice, and an older one of the same key as well.
  template <class Row, class Visit>
  void for_each(Visit&& visit) {
    const std::string& select = select_sql<Row>(Database::kSchemaVersion);
    for_each_of<Row>(select, visit);
    if constexpr (std::is_same_v<Row, RecordRow>) {
      // What failed has no times, but may find those of a row that it has replaced: once more, with none for anybody.
      std::string without = select;
      without.replace(without.find("'time_us'"), std::string_view("'time_us'").size(), "''");
      for_each_of<Row>(without, visit);
    }
  }

 private:
  /// Makes the tables of the newest schema. A row has as many values as its table had columns when it was stored.
  void make_tables() {
    for (int version = Database::kSchemaVersion; version >= 1; --version) {
      SQLite::Database model(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
      migrate(model, version);
      SQLite::Statement tables(model, "SELECT name FROM sqlite_master WHERE type = 'table'");
      while (tables.executeStep()) take_table(model, tables.getColumn(0).getString(), version == Database::kSchemaVersion);
    }
  }
  void take_table(SQLite::Database& model, const std::string& name, bool newest) {
    if (name == "problems" || name == "configurations") {
      if (newest) sqlite_.exec("CREATE TABLE " + name + " (key PRIMARY KEY, text) WITHOUT ROWID");
      return;
    }
    std::string names, definitions, parameters;
    std::size_t count = 0;
    SQLite::Statement info(model, "SELECT name, coalesce(' DEFAULT ' || dflt_value, '') FROM pragma_table_info(?)");
    for (info.bind(1, name); info.executeStep(); ++count) {
      names += ", " + info.getColumn(0).getString();
      definitions += ", " + info.getColumn(0).getString() + info.getColumn(1).getString();
      parameters += ", ?";
    }
    if (newest) sqlite_.exec(fmt::format("CREATE TABLE {0} (place_in_{0} INTEGER{1})", name, definitions));
    auto& inserts = inserts_[count];
    std::string insert = fmt::format("INSERT INTO {0} (place_in_{0}{1}) VALUES (?{2})", name, names, parameters);
    if (std::find(inserts.begin(), inserts.end(), insert) == inserts.end()) inserts.push_back(std::move(insert));
  }

  template <class Row, class Visit>
  void for_each_of(const std::string& select, Visit&& visit) {
    Use use(statements_.prepared(select + " ORDER BY place_in_" + Table<Row>::kName));
    while (guard_.watch("reading", [&] { return use.step(); })) {
      const StoredRow<Row> found(use);
      if (found.intact()) visit(found.row);
    }
  }
  /// A sound file has one row of a key, and pages that are not used may have some older ones. A forged one may have thousands,
  /// each of which would be joined with each row of another table.
  void keep_few(const std::string& table, const std::string& key) {
    constexpr int kMostOfOneKey = 16;
    sqlite_.exec(fmt::format(
        "DELETE FROM {0} WHERE rowid IN (SELECT row FROM (SELECT rowid AS row, row_number() OVER (PARTITION BY {1}) AS number FROM {0}) WHERE number > {2})",
        table, key, kMostOfOneKey));
  }
  /// To every table that has as many columns.
  void add(const Cell& cell) {
    if (cell.values.size() == 2) add_text(cell);
    const auto inserts = inserts_.find(cell.values.size());
    if (inserts == inserts_.end()) return;
    for (const std::string& insert : inserts->second) {
      Use use(statements_.prepared(insert));
      use.bind(static_cast<std::uint64_t>(cell.row_number.value_or(0)));
      for (const StoredValue& value : cell.values) bind(use, value);
      use.run();
    }
  }
  /// Under the key that it has by its content, whatever the file has it under.
  void add_text(const Cell& cell) {
    if (!std::holds_alternative<std::string_view>(cell.values[0]) || !std::holds_alternative<std::string_view>(cell.values[1])) return;
    const std::string text(std::get<std::string_view>(cell.values[1]));
    for (const char* insert : {"INSERT OR IGNORE INTO problems VALUES (?, ?)", "INSERT OR IGNORE INTO configurations VALUES (?, ?)"}) {
      statements_.run(insert, base::content_key(text), text);
    }
  }
  static void bind(Use& use, const StoredValue& value) {
    if (const auto* const number = std::get_if<std::int64_t>(&value))
      use.bind(static_cast<std::uint64_t>(*number));
    else if (const auto* const real = std::get_if<double>(&value))
      use.bind(*real);
    else if (const auto* const text = std::get_if<std::string_view>(&value))
      use.bind(std::string(*text));
    else if (const auto* const blob = std::get_if<Blob>(&value))
      use.bind(*blob);
    else
      use.skip();
  }

  SQLite::Database sqlite_{"", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
  Guard guard_;
  StatementCache statements_{sqlite_};
  std::map<std::size_t, std::vector<std::string>> inserts_;  ///< by the number of columns
};

/// Stores what it is given.
class Salvage {
 public:
  Salvage(LooseRows& rows, Database& database) : rows_(rows), database_(database) {}

  void run() {
    Database::Batch batch(database_);
    each<DeviceRow>();
    templates();
    each<CubinRow>();
    each<RecordRow>();
    each<BestRow>();
    each<SessionRow>();
    each<InFlightRow>();
    batch.commit();
  }

 private:
  void store(const CubinRow& row) { database_.put_cubin(row.key, row.cubin, row.detail_json); }
  void store(const InFlightRow& row) { database_.set_in_flight(row.session_key, row.configuration); }
  template <class Row>
  void store(const Row& row) {
    database_.put(row);
  }

  template <class Row>
  void each() {
    rows_.for_each<Row>([&](const Row& row) { store(row); });
  }

  void templates() {
    std::map<std::string, TemplateRow> rows;
    rows_.for_each<TemplateRow>([&](const TemplateRow& row) { rows.emplace(row.hash, row); });
    rows_.for_each<TemplateFileRow>([&](const TemplateFileRow& file) {
      const auto owner = rows.find(file.template_hash);
      if (owner != rows.end()) owner->second.files.emplace(file.name, file.contents);
    });
    for (const auto& [hash, row] : rows) store(row);
  }

  LooseRows& rows_;
  Database& database_;
};

/// A page that is no longer used may hold a row that was taken out: a best row whose configuration was found to fail, above all.
void forget_contradicted(Database& database) {
  for (const BestRow& best : database.best({})) {
    const Query query{best.template_hash, std::nullopt, best.problem, best.device_key, best.policy, best.objective};
    const auto record = database.record(query, best.configuration);
    if (record && !supports(*record, best)) database.forget_best(query);
  }
}

}  // namespace

std::uint64_t salvage(Database& database, const std::filesystem::path& damaged, const KeepGoing& keep_going) {
  try {
    LooseRows rows(damaged, keep_going);
    Salvage(rows, database).run();
  } catch (const SQLite::Exception& error) {
    if ((error.getErrorCode() & 0xff) != SQLITE_FULL) throw_sqlite_failure(damaged, "keeping what can be read of it", error);
    throw DatabaseError(
        damaged.string(),
        fmt::format(
            "failed keeping what can be read of database '{}': SQLite returned SQLITE_FULL ({}); nothing of it has changed: free disk space where it "
            "is and where temporary files are (SQLITE_TMPDIR, else TMPDIR, else /var/tmp)",
            damaged.string(), error.what()));
  }
  forget_contradicted(database);
  const Info info = database.info();
  return info.devices + info.templates + info.records + info.best + info.cubins + info.sessions;
}

}  // namespace attune::db
