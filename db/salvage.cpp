#include "db/salvage.hpp"

#include <fmt/core.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "db/migrations.hpp"
#include "db/reading.hpp"
#include "db/repaired_image.hpp"
#include "db/sqlite_error.hpp"
#include "db/stored_row.hpp"
#include "tuner/base/hash.hpp"

namespace attune::db {
namespace {

/// Errors of the machine, not of the file: memory, descriptors, the disk. What they keep from being read is there.
bool may_pass(const SQLite::Exception& error) {
  switch (error.getErrorCode() & 0xff) {
    case SQLITE_NOMEM:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
    case SQLITE_FULL:
    case SQLITE_READONLY:
      return true;
    case SQLITE_IOERR:
      return error.getExtendedErrorCode() != SQLITE_IOERR_SHORT_READ && error.getExtendedErrorCode() != SQLITE_IOERR_CORRUPTFS;
    default:
      return false;
  }
}

/// A damaged file, table by table. No index is used, and nothing is searched for as long as a table can be walked: a damaged key
/// or row number leads a search past rows that are sound.
class DamagedFile {
 public:
  DamagedFile(std::unique_ptr<SQLite::Database> sqlite, const std::filesystem::path& path, const KeepGoing& keep_going)
      : path_(path), sqlite_(std::move(sqlite)), guard_(*sqlite_, path, keep_going), usable_(guard_.watch("opening", [&] { return is_ours(); })) {
    if (usable_) gather_texts();
  }

  [[nodiscard]] bool usable() const { return usable_; }
  /// Nothing but a page of a table or index can hide rows.
  [[nodiscard]] bool sound_frame() const { return sound_frame_; }

  /// Every good row; what a damaged page held is passed over. A row may come twice.
  template <class Row, class Visit>
  void for_each(Visit&& visit) {
    std::vector<Place<Row>> given;
    bool whole = false;
    for (const char* direction : {" ASC", " DESC"}) {
      whole = whole || walk<Row>(direction, given, visit);
    }
    if (whole && texts_whole_) return;
    // What no walk came to, or came to without its texts, is searched for.
    std::sort(given.begin(), given.end());
    const std::string where = std::string(" WHERE ") + Table<Row>::kPlace + " = ?";
    for (const Place<Row>& place : places<Row>()) {
      if (std::binary_search(given.begin(), given.end(), place)) continue;
      std::optional<Row> row;
      (void)try_reading([&] { row = row_at<Row>(Table<Row>::kSelect + where, place); });
      if (!row && !texts_whole_) (void)try_reading([&] { row = row_at<Row>(in_file(Table<Row>::kSelect) + where, place); });
      if (row) visit(std::move(*row));
    }
  }

 private:
  [[nodiscard]] bool is_ours() {
    const Identity identity = read_identity(*sqlite_);
    // A damaged definition spoils its own table at most: what does not fit the others' queries is an error of theirs.
    if (identity.schema.kind == SchemaFinding::Kind::Foreign || !identity.has_our_tables) return false;
    // Header and schema are ours to the letter, and the header does not say that the file ends earlier than it does.
    const std::uint64_t pages = static_cast<std::uint64_t>(sqlite_->execAndGet("PRAGMA page_count").getInt64());
    std::error_code error;
    const std::uintmax_t bytes = std::filesystem::file_size(path_, error);
    sound_frame_ = identity.schema.kind == SchemaFinding::Kind::Same && (error || pages * 4096 >= bytes);
    take_long_values(*sqlite_);
    add_missing_tables(*sqlite_);
    return true;
  }

  /// Damage ends `work`, one way or the other: false.
  template <class Work>
  [[nodiscard]] bool try_reading(Work&& work) {
    try {
      guard_.watch("reading", work);
      return true;
    } catch (const SQLite::Exception& error) {
      if (may_pass(error)) throw;
    } catch (const DatabaseError&) {  // it would have gone on for ever
    }
    return false;
  }

  /// What rows refer to by a key, in temporary tables of the same names, which come before the file's. Texts are put under the keys
  /// that they have by their content. A record may find several metrics; its checksum says which are its own.
  void gather_texts() {
    sqlite_->exec("PRAGMA temp_store = MEMORY");
    for (const std::string table : {"problems", "configurations"}) {
      sqlite_->exec("CREATE TEMP TABLE IF NOT EXISTS " + table + " (key TEXT NOT NULL PRIMARY KEY, text TEXT NOT NULL)");
      const std::string insert = "INSERT OR IGNORE INTO temp." + table + " (key, text) VALUES (?, ?)";
      gather("SELECT text FROM main." + table + " ORDER BY key", [&](SQLite::Statement& row) {
        const std::string text = row.getColumn(0).getString();
        statements_.run(insert, base::content_key(text), text);
      });
    }
    sqlite_->exec("CREATE TEMP TABLE IF NOT EXISTS metrics (record_key TEXT, name TEXT, value REAL, low REAL, high REAL, samples INTEGER)");
    gather("SELECT CAST(record_key AS TEXT), CAST(name AS TEXT), value, low, high, samples FROM main.metrics ORDER BY main.metrics.record_key", [&](SQLite::Statement& row) {
      const auto number = [&](int column) { return row.getColumn(column).getDouble(); };
      statements_.run("INSERT INTO temp.metrics (record_key, name, value, low, high, samples) VALUES (?, ?, ?, ?, ?, ?)", row.getColumn(0).getString(),
                      row.getColumn(1).getString(), number(2), number(3), number(4), row.getColumn(5).getInt());
    });
    sqlite_->exec("CREATE INDEX IF NOT EXISTS temp.metrics_by_record ON metrics (record_key, name)");
  }
  /// The same selection with the texts of the file's own tables.
  [[nodiscard]] static std::string in_file(std::string select) {
    for (const std::string table : {"problems", "configurations", "metrics"}) {
      const std::size_t at = select.find(" JOIN " + table);
      if (at != std::string::npos) select.insert(at + std::string(" JOIN ").size(), "main.");
    }
    return select;
  }
  /// From both ends where the way from one is broken.
  template <class Take>
  void gather(const std::string& ordered, Take&& take) {
    for (const char* direction : {" ASC", " DESC"}) {
      const bool whole = try_reading([&] {
        const std::uint64_t most = most_rows();
        SQLite::Statement rows(*sqlite_, ordered + direction);
        for (std::uint64_t i = 0; i < most && rows.executeStep(); ++i) take(rows);
      });
      if (whole) return;
    }
    texts_whole_ = false;
  }
  /// That the file can hold: its pages may name each other.
  [[nodiscard]] std::uint64_t most_rows() {
    const auto number = [&](const char* pragma) { return static_cast<std::uint64_t>(sqlite_->execAndGet(pragma).getInt64()); };
    return number("PRAGMA page_count") * number("PRAGMA page_size") / kLeastRowBytes;
  }

  /// Gives the rows in the order of the table, and notes their places. False where damage ended the way.
  template <class Row, class Visit>
  [[nodiscard]] bool walk(const char* direction, std::vector<Place<Row>>& given, Visit&& visit) {
    const std::string select = Table<Row>::kSelect;
    const std::size_t from = select.find(" FROM ");
    const std::string sql = fmt::format("{0}, {2}{1} ORDER BY {2}{3}", select.substr(0, from), select.substr(from), Table<Row>::kPlace, direction);
    std::uint64_t most = 0;
    std::optional<Use> use;
    if (!try_reading([&] { most = most_rows(), use.emplace(statements_.prepared(sql)); })) return false;
    for (std::uint64_t i = 0; i < most; ++i) {
      bool more = false;
      std::optional<Row> row;
      const bool read = try_reading([&] {
        more = use->step();
        if (!more) return;
        StoredRow<Row> found(*use);
        if (!found.intact()) return;
        given.push_back(place_in<Row>(use->row()));
        row = std::move(found.row);
      });
      if (!read) return false;
      if (!more) return true;
      if (row) visit(std::move(*row));
    }
    return false;
  }
  template <class Row>
  [[nodiscard]] static Place<Row> place_in(SQLite::Statement& row) {
    const SQLite::Column column = row.getColumn(row.getColumnCount() - 1);
    if constexpr (std::is_same_v<Place<Row>, std::string>) return column.getString();
    else return static_cast<std::uint64_t>(column.getInt64());
  }

  /// Where the table has rows, as far as that can be told without reading them: what a row holds on pages of its own may be damaged.
  template <class Row>
  [[nodiscard]] std::vector<Place<Row>> places() {
    const std::string select = Table<Row>::kSelect;
    const std::string sql = fmt::format("SELECT {0}{1} ORDER BY {0}", Table<Row>::kPlace, select.substr(select.find(" FROM ")));
    std::vector<Place<Row>> found;
    for (const char* direction : {" ASC", " DESC"}) {
      (void)try_reading([&] {
        const std::uint64_t most = most_rows();
        Use use(statements_.prepared(sql + direction));
        for (std::uint64_t rows = 0; rows < most && use.step(); ++rows) {
          ColumnReader read(use.row());
          read(found.emplace_back());
        }
      });
      std::sort(found.begin(), found.end());
      found.erase(std::unique(found.begin(), found.end()), found.end());
    }
    return found;
  }

  template <class Row>
  [[nodiscard]] std::optional<Row> row_at(const std::string& select, const Place<Row>& place) {
    Use use(statements_.prepared(select));
    use.bind(place);
    while (use.step()) {
      StoredRow<Row> found(use);
      if (found.intact()) return std::move(found.row);
    }
    return std::nullopt;
  }

  std::filesystem::path path_;
  std::unique_ptr<SQLite::Database> sqlite_;
  Guard guard_;
  StatementCache statements_{*sqlite_};
  bool sound_frame_ = false;
  bool texts_whole_ = true;
  bool usable_;
};

/// Stores what it is given.
class Salvage {
 public:
  Salvage(DamagedFile& file, Database& database) : file_(file), database_(database) {}

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
    file_.for_each<Row>([&](const Row& row) { store(row); });
  }

  void templates() {
    std::map<std::string, TemplateRow> rows;
    file_.for_each<TemplateRow>([&](TemplateRow row) {
      std::string hash = row.hash;
      rows.emplace(std::move(hash), std::move(row));
    });
    file_.for_each<TemplateFileRow>([&](TemplateFileRow file) {
      const auto owner = rows.find(file.template_hash);
      if (owner != rows.end()) owner->second.files.emplace(std::move(file.name), std::move(file.contents));
    });
    for (const auto& [hash, row] : rows) store(row);
  }

  DamagedFile& file_;
  Database& database_;
};

/// Nothing for a file of which not even the schema can be read.
template <class Open>
std::unique_ptr<DamagedFile> try_open(Open&& open, const std::filesystem::path& damaged, const KeepGoing& keep_going) {
  try {
    auto file = std::make_unique<DamagedFile>(open(), damaged, keep_going);
    return file->usable() ? std::move(file) : nullptr;
  } catch (const SQLite::Exception& error) {
    if (may_pass(error)) throw;
  } catch (const DatabaseError&) {  // reading its schema would have gone on for ever
  }
  return nullptr;
}

/// What a WAL took out of the file is in the image: a best row whose configuration was found to fail, above all.
void forget_contradicted(Database& database) {
  for (const BestRow& best : database.best({})) {
    const Query query{best.template_hash, std::nullopt, best.problem, best.device_key, best.policy};
    const auto record = database.record(query, best.configuration);
    if (record && !is_verified(*record)) database.forget_best(query);
  }
}

void salvage_repaired(Database& database, const std::filesystem::path& damaged, const KeepGoing& keep_going) {
  std::unique_ptr<RepairedImage> image;
  const auto open = [&] {
    image = std::make_unique<RepairedImage>(damaged);
    return image->open();
  };
  if (const auto file = try_open(open, damaged, keep_going)) Salvage(*file, database).run();
}

}  // namespace

std::uint64_t salvage(Database& database, const std::filesystem::path& damaged, const KeepGoing& keep_going) {
  try {
    const auto file = try_open([&] { return open_untouched(damaged); }, damaged, keep_going);
    // Before the file itself, whose WAL has what is newer.
    const bool repaired = !file || !file->sound_frame();
    if (repaired) salvage_repaired(database, damaged, keep_going);
    if (file) Salvage(*file, database).run();
    if (repaired) forget_contradicted(database);
  } catch (const SQLite::Exception& error) {
    throw sqlite_failure(damaged, "keeping what can be read of it", error);
  }
  const Info info = database.info();
  return info.devices + info.templates + info.records + info.best + info.cubins + info.sessions;
}

}  // namespace attune::db
