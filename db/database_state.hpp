#pragma once
#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "db/database.hpp"
#include "db/database_file.hpp"
#include "db/page_check.hpp"
#include "db/row_sql.hpp"
#include "db/sqlite_error.hpp"
#include "db/statements.hpp"
#include "db/stored_row.hpp"
#include "db/tables.hpp"

namespace attune::db {

/// What a Database is made of; shared by the source files that implement it.
struct Database::State {
  enum class BatchState { None, Open, Failed };

  /// A number of this process: no two opened files have the same.
  [[nodiscard]] static std::uint64_t next_number() {
    static std::atomic<std::uint64_t> next{0};
    return ++next;
  }

  State(std::filesystem::path file, OpenMode open_mode, const KeepGoing& keep_going, const Salvager& salvager)
      : path(std::move(file)),
        mode(open_mode),
        connection(mode == OpenMode::ReadWrite ? open_for_writing(path, keep_going, salvager) : open_for_reading(path, keep_going)),
        statements(*connection.sqlite) {}

  State(std::filesystem::path name, Connection opened)
      : path(std::move(name)), mode(OpenMode::ReadWrite), connection(std::move(opened)), statements(*connection.sqlite) {}

  /// Runs `work` in a transaction of its own, or within the open Batch. On any failure everything of the transaction
  /// is rolled back. `doing` reads "storing a record". Throws: DatabaseError.
  template <class Work>
  void write(const char* doing, Work&& work) {
    require_writable(doing);
    try {
      guard().begin((std::string(doing) + " in").c_str());
      if (batch == BatchState::Open) return work();
      statements.run("BEGIN IMMEDIATE");
      work();
      statements.run("COMMIT");
    } catch (const SQLite::Exception& error) {
      roll_back();
      note_damage(error);
      guard().explain_interruption(std::string(doing) + " in");
      throw_sqlite_failure(path, doing, error);
    } catch (...) {
      roll_back();
      throw;
    }
  }

  /// Every good row goes to `visit`; a bad one is counted, and named to `report` as "<table> <key>".
  template <class Row, class Visit, class Report>
  void scan(const std::string& sql, const std::vector<std::string>& values, Visit&& visit, Report&& report) {
    Use use(statements.prepared(sql));
    for (const std::string& value : values) use.bind(value);
    ReadSoFar so_far;
    while (use.step()) {
      StoredRow<Row> found(use);
      count(so_far, found.bytes, Table<Row>::kName);
      const std::string key = found.key;
      const bool good = found.good();
      // More than this row may be hidden: by an index that leads elsewhere, by texts out of their order.
      if (!good && mode == OpenMode::ReadWrite && (found.dangling || found.of_another_key(key))) mark_suspect(path);
      if (good && visit(std::move(found.row))) continue;
      const std::string name = std::string(Table<Row>::kName) + " " + key;
      bad.insert(name);
      report(name);
    }
  }

  /// select_sql of the file's schema version.
  template <class Row>
  [[nodiscard]] const std::string& select_of() {
    if (connection.schema_version < Database::kSchemaVersion) {
      // A writer may migrate a file that is being read.
      const int now = connection.sqlite->execAndGet("SELECT coalesce(max(version), 0) FROM schema_version").getInt();
      connection.schema_version = std::clamp(now, connection.schema_version, Database::kSchemaVersion);
    }
    return select_sql<Row>(connection.schema_version);
  }

  /// Good rows in kOrder.
  template <class Row, class Accept>
  [[nodiscard]] std::vector<Row> select(const Filter& filter, Accept&& accept) {
    return reading([&] {
      std::vector<Row> rows;
      const auto keep = [&](Row row) {
        if (!accept(row)) return false;
        rows.push_back(std::move(row));
        return true;
      };
      scan<Row>(select_of<Row>() + filter.where + Table<Row>::kOrder, filter.values, keep, [](const std::string&) {});
      return rows;
    });
  }

  /// The good row stored under a key; nothing counts a bad one, which whoever asks is about to replace. Before any row is
  /// replaced it has to be asked for here: where a damaged index leads to the row of another key, SQLite would replace that one.
  /// Throws: DatabaseError in that case.
  template <class Row>
  [[nodiscard]] std::optional<Row> stored(const std::string& key) {
    const std::optional<Place<Row>> place = place_of<Row>(key);
    if (!place) return std::nullopt;
    static const std::string sql = select_sql<Row>(Database::kSchemaVersion) + " WHERE t." + Table<Row>::kPlace + " = ?";
    Use use(statements.prepared(sql));
    use.bind(*place);
    std::optional<StoredRow<Row>> found;
    if (use.step()) found.emplace(use);
    // Under another key, and not because that key is what is damaged.
    if (!found || (found->key != key && (Table<Row>::key(found->row) != key || place_of<Row>(found->key)))) refuse_index(Table<Row>::kName);
    if (found->key != key || !found->good()) return std::nullopt;
    return std::move(found->row);
  }
  /// Where an index says that the row of a key is. The row itself is read in a second step: in one, SQLite would take the key from the
  /// index, and join by it, without ever looking at the key in the row.
  template <class Row>
  [[nodiscard]] std::optional<Place<Row>> place_of(const std::string& key) {
    static const std::string sql = fmt::format("SELECT t.{} FROM {} t{}", Table<Row>::kPlace, Table<Row>::kName, where_key<Row>());
    Use use(statements.prepared(sql));
    use.bind(key);
    if (!use.step()) return std::nullopt;
    Place<Row> place{};
    ColumnReader read(use.row());
    read(place);
    return place;
  }
  template <class Row>
  void require_own_place(const std::string& key) {
    (void)stored<Row>(key);
  }

  template <class Work>
  auto reading(Work&& work) {
    guard().begin("reading");
    try {
      return work();
    } catch (const SQLite::Exception& error) {
      note_damage(error);
      guard().explain_interruption("reading");
      read_failure = sqlite_failure(path, "reading", error).what();
      throw_sqlite_failure(path, "reading", error);
    }
  }

  [[nodiscard]] Guard& guard() { return *connection.guard; }
  /// A damaged or forged file may show the same pages, and the same long text, again and again; whoever collects rows must not
  /// run out of memory. Texts of problems and configurations are one row each however many records name them.
  struct ReadSoFar {
    std::uint64_t rows = 0, bytes = 0, most_rows = 0, most_bytes = 0;
  };
  void count(ReadSoFar& so_far, std::uint64_t bytes, const char* table) {
    constexpr std::uint64_t kMostTimesBytes = 16, kFreeBytes = std::uint64_t{16} << 20;
    so_far.bytes += bytes;
    if (++so_far.rows <= so_far.most_rows && so_far.bytes <= so_far.most_bytes) return;
    const auto number = [&](const char* pragma) { return static_cast<std::uint64_t>(connection.sqlite->execAndGet(pragma).getInt64()); };
    const std::uint64_t file = number("PRAGMA page_count") * number("PRAGMA page_size");  // it may have grown
    so_far.most_rows = file / kLeastRowBytes;
    so_far.most_bytes = kMostTimesBytes * file + kFreeBytes;
    if (so_far.rows <= so_far.most_rows && so_far.bytes <= so_far.most_bytes) return;
    if (mode == OpenMode::ReadWrite) mark_suspect(path);
    read_failure =
        fmt::format("failed reading database '{}': the table {} shows more than the file can hold; `attune db check` lists the damage",
                    path.string(), table);
    throw ContentsError(path.string(), read_failure);
  }
  void require_writable(const char* doing) const;
  [[noreturn]] void refuse_index(const char* table) const;
  void roll_back() noexcept;
  /// A writer that meets damage in a file too large to be checked on opening leaves word for the next one.
  void note_damage(const SQLite::Exception& error) const noexcept {
    if (mode == OpenMode::ReadWrite && is_damage_met(error)) mark_suspect(path);
  }
  /// Stores the text under its content key, repairing a damaged one; returns the key.
  std::string store_problem(const std::string& text) { return store_text(known_problems, "problems", text); }
  std::string store_configuration(const std::string& text) { return store_text(known_configurations, "configurations", text); }
  /// Keys of texts that the open batch has stored or found as they should be: nobody else writes until it ends.
  using KnownTexts = std::unordered_set<std::string>;
  std::string store_text(KnownTexts& known, const char* table, const std::string& text);

  const std::uint64_t opened_as = next_number();  ///< of this opened file
  std::filesystem::path path;
  OpenMode mode;
  Connection connection;
  StatementCache statements;  ///< after the connection: statements must be finalised before it closes
  BatchState batch = BatchState::None;
  KnownTexts known_problems, known_configurations;
  std::string read_failure;   ///< of the last read that failed
  std::set<std::string> bad;  ///< "<table> <key>": a row that is met twice counts once
};

}  // namespace attune::db
