#include "db/migrations.hpp"

#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <fmt/core.h>
#include <sqlite3.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>
#include <string_view>

#include "db/database.hpp"
#include "db/database_file.hpp"
#include "db/migration_steps.hpp"
#include "db/sqlite_error.hpp"
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
  run_migration_step(sqlite, version);
  SQLite::Statement insert(sqlite, "INSERT INTO schema_version (version, migration, applied_at) VALUES (?, ?, ?)");
  insert.bind(1, version);
  insert.bind(2, std::string(file.path.substr(file.path.rfind('/') + 1)));
  insert.bind(3, base::utc_now());
  insert.exec();
  sqlite.exec(fmt::format("PRAGMA user_version = {}", version));
  sqlite.exec(fmt::format("PRAGMA application_id = {}", kApplicationId));
}

constexpr std::size_t kHeaderBytes = 100;

/// The first bytes of a file, shorter for a shorter file. Source: https://www.sqlite.org/fileformat.html, "The Database Header"
std::string header_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string header(kHeaderBytes, '\0');
  file.read(header.data(), kHeaderBytes);
  header.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return header;
}

bool has_magic(std::string_view header) { return header.starts_with(std::string_view("SQLite format 3\0", 16)); }

/// Our application id, and beside it the magic text or the three bytes that SQLite requires: one of them may be damaged.
bool is_header_of_ours(std::string_view header) {
  constexpr std::string_view kOurs("ATUN"), kPayloadFractions("\x40\x20\x20");
  return header.size() >= kHeaderBytes && header.substr(68, 4) == kOurs && (has_magic(header) || header.substr(21, 3) == kPayloadFractions);
}

/// SQLite reads a file whose text encoding is damaged as UTF-8 and fails only when its schema has changed, which switching to a WAL is
/// enough for. Returns what the header says then; empty when it says what SQLite writes into our files. Requires: a transaction.
std::string unknown_encoding(SQLite::Database& sqlite) {
  // By SQLite's own descriptor: closing another one of the file would let go of every lock that this process has on it.
  sqlite3_file* file = nullptr;
  if (sqlite3_file_control(sqlite.getHandle(), "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK) return {};
  std::string header(kHeaderBytes, '\0');
  if (file->pMethods == nullptr || file->pMethods->xRead(file, header.data(), static_cast<int>(kHeaderBytes), 0) != SQLITE_OK) return {};
  constexpr std::size_t kSchemaFormat = 44, kEncoding = 56;
  constexpr std::string_view kNoSchema("\0\0\0\0", 4), kUtf8("\0\0\0\1", 4);
  // SQLite writes both with the first table, which may be in the WAL alone.
  if (header.substr(kSchemaFormat, 4) == kNoSchema || header.substr(kEncoding, 4) == kUtf8) return {};
  return "its header names a text encoding that is not ours";
}

}  // namespace

Identity read_identity(SQLite::Database& sqlite) {
  // One snapshot: another process may be creating the file between two of these questions.
  const SQLite::Transaction snapshot(sqlite);
  Identity identity;
  identity.application_id = sqlite.execAndGet("PRAGMA application_id").getInt();
  identity.user_version = identity.stated_version = sqlite.execAndGet("PRAGMA user_version").getInt();
  const std::vector<SchemaObject> objects = schema_objects(sqlite);
  identity.has_tables = !objects.empty();
  int ours = 0;
  for (const auto& object : objects) {
    if (object.type == "table" && (object.name == "schema_version" || object.name == "records" || object.name == "best")) ++ours;
  }
  identity.has_our_tables = ours == 3;
  if (!identity.has_tables) return identity;
  identity.encoding_damage = unknown_encoding(sqlite);
  identity.schema = compare_schema(objects, identity.user_version, Database::kSchemaVersion);
  if (identity.schema.kind == SchemaFinding::Kind::Same) {
    identity.table_version = sqlite.execAndGet("SELECT coalesce(max(version), 0) FROM schema_version").getInt();
    // Tables and their own word against four bytes of the header; but what calls itself newer, by a number that we might give, is left
    // alone.
    constexpr int kMostVersion = 1000;
    const bool newer = identity.stated_version > Database::kSchemaVersion && identity.stated_version <= kMostVersion;
    if (identity.table_version == identity.schema.version && !newer) {
      identity.user_version = identity.table_version;
    }
  }
  return identity;
}

void require_ours(const std::filesystem::path& path, const Identity& identity) {
  const bool empty = !identity.has_tables && identity.user_version == 0;
  if (empty && (identity.application_id == 0 || identity.application_id == kApplicationId)) return;
  if (identity.application_id != kApplicationId && !identity.has_our_tables) {
    refuse_contents(path, fmt::format("it belongs to another program (application_id {}, expected {}); name another file with "
                                      "ATTUNE_DB or --db",
                                      identity.application_id, kApplicationId));
  }
  if (identity.user_version > Database::kSchemaVersion) {
    fail_opening(path, fmt::format("its schema version {} is newer than version {} of this build; the file was left as it is: "
                                   "update attune, or name another file with ATTUNE_DB or --db",
                                   identity.user_version, Database::kSchemaVersion));
  }
  if (identity.schema.kind == SchemaFinding::Kind::Foreign) {
    refuse_contents(
        path, fmt::format("it holds {}, which is not as attune makes it: using the file could run what its author wrote; it was left as it "
                          "is: remove that, or export the file again where it came from",
                          identity.schema.what));
  }
  if (identity.schema.kind == SchemaFinding::Kind::Same && identity.user_version != identity.table_version) {
    refuse_contents(path, fmt::format("it is damaged: user_version says schema {}, its schema_version table says {}; move the file "
                                      "away to start a new one",
                                      identity.user_version, identity.table_version));
  }
}

void refuse_what_is_no_database(const std::filesystem::path& path) {
  const std::string header = header_of(path);
  if (header.empty() || has_magic(header) || is_header_of_ours(header)) return;
  refuse_contents(
      path,
      "it is no database (it does not begin as SQLite's files do) and was left as it is; name another file with ATTUNE_DB or --db, or move it "
      "away");
}

bool has_header_of_ours(const std::filesystem::path& path) { return is_header_of_ours(header_of(path)); }

void require_header_of_ours(const std::filesystem::path& path, const std::string& damage) {
  if (has_header_of_ours(path)) return;
  refuse_contents(
      path, fmt::format(
                "it cannot be read ({}) and its header does not say that it is attune's; it was left as it is: move it away to start a new "
                "one, or name another file with ATTUNE_DB or --db",
                damage));
}

std::string unknown_format(const std::filesystem::path& path) {
  const std::string header = header_of(path);
  if (!is_header_of_ours(header)) return {};
  constexpr std::size_t kWriteVersion = 18, kSchemaFormat = 44;
  constexpr std::string_view kOurFormat("\0\0\0\4", 4);
  if (header[kWriteVersion] != 1 && header[kWriteVersion] != 2)
    return fmt::format("its header names the write version {}", static_cast<unsigned char>(header[kWriteVersion]));
  if (header.substr(kSchemaFormat, kOurFormat.size()) != kOurFormat) return "its header names a schema format that SQLite does not have";
  return {};
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
  const std::vector<SchemaObject> existing = schema_objects(sqlite);
  SQLite::Statement tables(model, "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE %'");
  while (tables.executeStep()) {
    const std::string name = tables.getColumn(0).getString();
    if (std::any_of(existing.begin(), existing.end(), [&](const auto& object) { return object.name == name; })) continue;
    sqlite.exec("CREATE TEMP" + tables.getColumn(1).getString().substr(sizeof("CREATE") - 1));
  }
}

}  // namespace attune::db
