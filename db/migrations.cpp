#include "db/migrations.hpp"

#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <fmt/core.h>

#include <charconv>
#include <map>
#include <string>

#include "db/database.hpp"
#include "db/database_file.hpp"
#include "tuner/base/embedded.hpp"
#include "tuner/base/text.hpp"

namespace attune::base {
EmbeddedFiles embedded_schema();
}

namespace attune::db {
namespace {

/// "db/schema/0001_initial.sql" -> 1.
int migration_number(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  int number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end == name.data() + name.size() || *end != '_') {
    throw Error(fmt::format("failed reading the embedded migrations: '{}' is not named NNNN_<what>.sql", path));
  }
  return number;
}

/// Requires: a transaction.
void apply(SQLite::Database& sqlite, int version, const base::EmbeddedFile& file) {
  sqlite.exec(std::string(file.contents));
  SQLite::Statement insert(sqlite, "INSERT INTO schema_version (version, migration, applied_at) VALUES (?, ?, ?)");
  insert.bind(1, version);
  insert.bind(2, std::string(file.path.substr(file.path.rfind('/') + 1)));
  insert.bind(3, base::utc_now());
  insert.exec();
  sqlite.exec(fmt::format("PRAGMA user_version = {}", version));
  sqlite.exec(fmt::format("PRAGMA application_id = {}", kApplicationId));
}

std::map<std::string, std::string> schema_of(SQLite::Database& sqlite) {
  std::map<std::string, std::string> objects;
  SQLite::Statement rows(sqlite,
                         "SELECT type || ' ' || name, tbl_name || ': ' || coalesce(sql, '') FROM sqlite_master");
  while (rows.executeStep()) objects[rows.getColumn(0).getString()] = rows.getColumn(1).getString();
  return objects;
}

}  // namespace

Identity read_identity(SQLite::Database& sqlite) {
  // One snapshot: another process may be creating the file between two of these questions.
  const SQLite::Transaction snapshot(sqlite);
  Identity identity;
  identity.application_id = sqlite.execAndGet("PRAGMA application_id").getInt();
  identity.user_version = sqlite.execAndGet("PRAGMA user_version").getInt();
  identity.has_tables = sqlite.execAndGet("SELECT count(*) FROM sqlite_master").getInt() > 0;
  identity.has_our_tables = sqlite
                                .execAndGet(
                                    "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND "
                                    "name IN ('schema_version', 'records', 'best')")
                                .getInt() == 3;
  if (identity.has_our_tables) {
    identity.table_version = sqlite.execAndGet("SELECT coalesce(max(version), 0) FROM schema_version").getInt();
  }
  return identity;
}

void require_ours(const std::filesystem::path& path, const Identity& identity) {
  const auto refuse = [&](const std::string& why) {
    throw DatabaseError(path.string(), fmt::format("failed opening database '{}': {}", path.string(), why));
  };
  const bool empty = !identity.has_tables && identity.user_version == 0;
  if (empty && (identity.application_id == 0 || identity.application_id == kApplicationId)) return;
  if (identity.application_id != kApplicationId && !identity.has_our_tables) {
    refuse(
        fmt::format("it belongs to another program (application_id {}, expected {}); name another file with "
                    "ATTUNE_DB or --db",
                    identity.application_id, kApplicationId));
  }
  if (identity.user_version > Database::kSchemaVersion) {
    refuse(
        fmt::format("its schema version {} is newer than version {} of this build; the file was left as it is: "
                    "update attune, or name another file with ATTUNE_DB or --db",
                    identity.user_version, Database::kSchemaVersion));
  }
  if (identity.user_version != identity.table_version) {
    refuse(
        fmt::format("it is damaged: user_version says schema {}, its schema_version table says {}; move the file "
                    "away to start a new one",
                    identity.user_version, identity.table_version));
  }
}

void migrate(SQLite::Database& sqlite, int last) {
  const auto version_now = [&] { return sqlite.execAndGet("PRAGMA user_version").getInt(); };
  if (version_now() >= last) return;
  SQLite::Transaction transaction(sqlite, SQLite::TransactionBehavior::IMMEDIATE);
  for (const base::EmbeddedFile& file : base::embedded_schema()) {
    const int current = version_now();
    const int version = migration_number(file.path);
    if (version <= current || version > last) continue;
    if (version != current + 1) {
      throw Error(fmt::format("failed migrating: migration {} follows schema version {}", version, current));
    }
    apply(sqlite, version, file);
  }
  transaction.commit();
}

void add_missing_tables(SQLite::Database& sqlite) {
  SQLite::Database model(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  migrate(model, Database::kSchemaVersion);
  sqlite.exec("PRAGMA temp_store = MEMORY");  // there may be no folder that this process can write
  const auto existing = schema_of(sqlite);
  SQLite::Statement tables(model, "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE %'");
  while (tables.executeStep()) {
    if (existing.contains("table " + tables.getColumn(0).getString())) continue;
    sqlite.exec("CREATE TEMP" + tables.getColumn(1).getString().substr(sizeof("CREATE") - 1));
  }
}

std::string schema_damage(SQLite::Database& sqlite, int version) {
  SQLite::Database model(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  migrate(model, version);
  const auto found = schema_of(sqlite);
  for (const auto& [name, definition] : schema_of(model)) {
    const auto same_name = found.find(name);
    if (same_name == found.end() || same_name->second != definition) {
      return fmt::format("{} is not as schema version {} made it", name, version);
    }
  }
  return {};
}

}  // namespace attune::db
