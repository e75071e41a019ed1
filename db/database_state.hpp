#pragma once
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "db/database.hpp"
#include "db/database_file.hpp"
#include "db/page_check.hpp"
#include "db/sqlite_error.hpp"
#include "db/statements.hpp"
#include "db/tables.hpp"

namespace attune::db {

/// What a Database is made of; shared by the source files that implement it.
struct Database::State {
  enum class BatchState { None, Open, Failed };

  State(std::filesystem::path file, OpenMode open_mode)
      : path(std::move(file)),
        mode(open_mode),
        connection(mode == OpenMode::ReadWrite ? open_for_writing(path) : open_for_reading(path)),
        statements(*connection.sqlite) {}

  State(std::filesystem::path name, Connection opened)
      : path(std::move(name)),
        mode(OpenMode::ReadWrite),
        connection(std::move(opened)),
        statements(*connection.sqlite) {}

  /// Runs `work` in a transaction of its own, or within the open Batch. On any failure everything of the transaction
  /// is rolled back. `doing` reads "storing a record". Throws: DatabaseError.
  template <class Work>
  void write(const char* doing, Work&& work) {
    require_writable(doing);
    try {
      if (batch == BatchState::Open) return work();
      statements.run("BEGIN IMMEDIATE");
      work();
      statements.run("COMMIT");
    } catch (const SQLite::Exception& error) {
      roll_back();
      note_damage(error);
      throw sqlite_failure(path, doing, error);
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
    while (use.step()) {
      ColumnReader read(use.row());
      std::string key, stored;
      Row row;
      read(key);
      read(stored);
      std::apply([&](auto... field) { (read(row.*field), ...); }, Table<Row>::kFields);
      if (stored == checksum(key, row) && key == Table<Row>::key(row) && visit(std::move(row))) continue;
      const std::string name = std::string(Table<Row>::kName) + " " + key;
      bad.insert(name);
      report(name);
    }
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
      scan<Row>(Table<Row>::kSelect + filter.where + Table<Row>::kOrder, filter.values, keep,
                [](const std::string&) {});
      return rows;
    });
  }

  /// The good row stored under a key; nothing counts a bad one, which whoever asks is about to replace.
  template <class Row>
  [[nodiscard]] std::optional<Row> stored(const std::string& key) {
    static const std::string sql = std::string(Table<Row>::kSelect) + Table<Row>::kWhereKey;
    Use use(statements.prepared(sql));
    use.bind(key);
    if (!use.step()) return std::nullopt;
    ColumnReader read(use.row());
    std::string found, sum;
    Row row;
    read(found);
    read(sum);
    std::apply([&](auto... field) { (read(row.*field), ...); }, Table<Row>::kFields);
    if (sum != checksum(found, row) || found != key || Table<Row>::key(row) != key) return std::nullopt;
    return row;
  }

  template <class Work>
  auto reading(Work&& work) {
    try {
      return work();
    } catch (const SQLite::Exception& error) {
      note_damage(error);
      const DatabaseError failure = sqlite_failure(path, "reading", error);
      read_failure = failure.what();
      throw failure;
    }
  }

  void require_writable(const char* doing) const;
  void roll_back() noexcept;
  /// A writer that meets damage in a file too large to be checked on opening leaves word for the next one.
  void note_damage(const SQLite::Exception& error) const noexcept {
    if (mode == OpenMode::ReadWrite && is_damage(error)) mark_suspect(path);
  }
  /// Stores the text under its content key, repairing a damaged one; returns the key.
  std::string store_problem(const std::string& text);
  std::string store_configuration(const std::string& text);

  std::filesystem::path path;
  OpenMode mode;
  Connection connection;
  StatementCache statements;  ///< after the connection: statements must be finalised before it closes
  BatchState batch = BatchState::None;
  std::string read_failure;   ///< of the last read that failed
  std::set<std::string> bad;  ///< "<table> <key>": a row that is met twice counts once
};

}  // namespace attune::db
