#include "db/schema_check.hpp"

#include <SQLiteCpp/Statement.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <utility>

#include "db/migrations.hpp"

namespace attune::db {
namespace {

/// No version of ours comes near.
constexpr int kMostObjects = 1000;

/// What `ANALYZE` leaves: figures for the planner, which cannot change what a query gives.
const std::array<SchemaObject, 2> kStatistics{
    {{"table", "sqlite_stat1", "sqlite_stat1", "CREATE TABLE sqlite_stat1(tbl,idx,stat)"},
     {"table", "sqlite_stat4", "sqlite_stat4", "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"}}};

/// Made once a process and version: a thousandth of a second, of which the first dispatch of a program should not pay more.
const std::vector<SchemaObject>& model_of(int version) {
  static std::mutex mutex;
  static std::map<int, std::vector<SchemaObject>> models;
  const std::lock_guard lock(mutex);
  auto& model = models[version];
  if (model.empty()) {
    SQLite::Database sqlite(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    migrate(sqlite, version);
    model = schema_objects(sqlite);
  }
  return model;
}

/// A flipped bit or two, wherever in the row of sqlite_master; what somebody put there differs by more.
bool may_be_damaged(const SchemaObject& found, const SchemaObject& expected) {
  constexpr int kMostBytes = 2;
  int differing = 0;
  for (const auto field : {&SchemaObject::type, &SchemaObject::name, &SchemaObject::table, &SchemaObject::sql}) {
    const std::string &a = found.*field, &b = expected.*field;
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size() && differing <= kMostBytes; ++i) differing += a[i] == b[i] ? 0 : 1;
  }
  return differing <= kMostBytes;
}

SchemaFinding compare_with(const std::vector<SchemaObject>& objects, int version) {
  using Kind = SchemaFinding::Kind;
  const auto& model = model_of(version);
  SchemaFinding damage{Kind::Same, version, {}};
  for (const auto& object : objects) {
    if (std::find(model.begin(), model.end(), object) != model.end()) continue;
    if (std::find(kStatistics.begin(), kStatistics.end(), object) != kStatistics.end()) continue;
    const auto expected = std::find_if(model.begin(), model.end(), [&](const auto& ours) { return may_be_damaged(object, ours); });
    if (expected == model.end()) {
      return {Kind::Foreign, version, fmt::format("the {} '{}'", object.type.empty() ? "object" : object.type, object.name)};
    }
    damage = {Kind::Damaged, version, fmt::format("{} {} is not as schema version {} made it", expected->type, expected->name, version)};
  }
  for (const auto& expected : model) {
    const auto count = std::count(objects.begin(), objects.end(), expected);
    if (count == 1 || damage.kind != Kind::Same) continue;
    damage = {Kind::Damaged, version, fmt::format("{} {} is {}", expected.type, expected.name, count == 0 ? "missing" : "there twice")};
  }
  return damage;
}

}  // namespace

std::vector<SchemaObject> schema_objects(SQLite::Database& sqlite) {
  std::vector<SchemaObject> objects;
  SQLite::Statement rows(sqlite, fmt::format("SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master LIMIT {}", kMostObjects));
  while (rows.executeStep()) {
    objects.push_back(
        {rows.getColumn(0).getString(), rows.getColumn(1).getString(), rows.getColumn(2).getString(), rows.getColumn(3).getString()});
  }
  std::sort(objects.begin(), objects.end());
  return objects;
}

SchemaFinding compare_schema(const std::vector<SchemaObject>& objects, int stated, int last) {
  for (int version = last; version >= 1; --version) {
    SchemaFinding finding = compare_with(objects, version);
    if (finding.kind == SchemaFinding::Kind::Same) return finding;
  }
  return compare_with(objects, std::clamp(stated, 1, last));
}

}  // namespace attune::db
