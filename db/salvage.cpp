#include "db/salvage.hpp"

#include <fmt/core.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "db/migrations.hpp"
#include "db/reading.hpp"
#include "db/repaired_image.hpp"
#include "db/sqlite_error.hpp"
#include "db/stored_row.hpp"

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

/// A damaged file, table by table. No index is used: rows are found by walking the tables themselves.
class DamagedFile {
 public:
  DamagedFile(std::unique_ptr<SQLite::Database> sqlite, const std::filesystem::path& path, const KeepGoing& keep_going)
      : path_(path), sqlite_(std::move(sqlite)), guard_(*sqlite_, path, keep_going), usable_(guard_.watch("opening", [&] { return is_ours(); })) {}

  [[nodiscard]] bool usable() const { return usable_; }
  /// Nothing but a page of a table or index can hide rows.
  [[nodiscard]] bool sound_frame() const { return sound_frame_; }

  /// Every good row; what a damaged page held is passed over.
  template <class Row, class Visit>
  void for_each(Visit&& visit) {
    const std::string select = std::string(Table<Row>::kSelect) + " WHERE " + Table<Row>::kPlace + " = ?";
    for (const Place<Row>& place : places<Row>()) {
      std::optional<Row> row;
      try_reading([&] { row = row_at<Row>(select, place); });
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

  /// Damage ends `work`, one way or the other.
  template <class Work>
  void try_reading(Work&& work) {
    try {
      guard_.watch("reading", work);
    } catch (const SQLite::Exception& error) {
      if (may_pass(error)) throw;
    } catch (const DatabaseError&) {  // it would have gone on for ever
    }
  }

  /// Where the table has rows. A damaged page ends a walk, so the table is walked from both ends, and no further than the file
  /// can hold rows: its pages may name each other.
  template <class Row>
  [[nodiscard]] std::vector<Place<Row>> places() {
    const std::string select = Table<Row>::kSelect;
    const std::string sql = fmt::format("SELECT {0}{1} ORDER BY {0}", Table<Row>::kPlace, select.substr(select.find(" FROM ")));
    const auto number = [&](const char* pragma) { return static_cast<std::uint64_t>(sqlite_->execAndGet(pragma).getInt64()); };
    std::vector<Place<Row>> found;
    for (const char* direction : {" ASC", " DESC"}) {
      try_reading([&] {
        const std::uint64_t most = number("PRAGMA page_count") * number("PRAGMA page_size") / kLeastRowBytes;
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
    if (!use.step()) return std::nullopt;
    StoredRow<Row> found(use);
    if (!found.good()) return std::nullopt;
    return std::move(found.row);
  }

  std::filesystem::path path_;
  std::unique_ptr<SQLite::Database> sqlite_;
  Guard guard_;
  StatementCache statements_{*sqlite_};
  bool sound_frame_ = false;
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
