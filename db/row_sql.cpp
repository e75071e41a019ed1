#include "db/row_sql.hpp"

#include <fmt/core.h>

#include <array>
#include <string_view>

#include "db/database.hpp"

namespace attune::db {
namespace {

/// What a row of an older file reads as.
template <class Value>
const char* literal_of_none() {
  return std::is_same_v<Value, std::string> ? "''" : "0";
}

/// The table's own column for it; empty: it has none.
std::string own_column(const char* name, Held held) {
  switch (held) {
    case Held::Plain:
    case Held::Bytes:
      return name;
    case Held::Problem:
      return "problem_key";
    case Held::Configuration:
      return "configuration_key";
    case Held::Time:
      return {};
  }
  return {};
}

template <class Row>
bool has(Held wanted) {
  bool found = false;
  for_each_column<Row>([&](const auto& column) { found = found || column.held == wanted; });
  return found;
}

template <class Row>
std::string make_select(int version) {
  std::string sql = fmt::format("SELECT t.{}, t.checksum", Table<Row>::kKey);
  for_each_column<Row>([&]<class Value>(const Column<Row, Value>& column) {
    if (column.since > version)
      sql += fmt::format(", {}", literal_of_none<Value>());
    else if (column.held == Held::Problem)
      sql += ", p.text";
    else if (column.held == Held::Configuration)
      sql += ", c.text";
    else if (column.held == Held::Time)
      sql += fmt::format(", m.{}", column.metric);
    else
      sql += fmt::format(", t.{}", column.name);
  });
  sql += fmt::format(" FROM {} t", Table<Row>::kName);
  // LEFT JOIN: a record whose problem or configuration is lost is a bad row to be counted, not one to be overlooked.
  if (has<Row>(Held::Problem)) sql += " LEFT JOIN problems p ON p.key = t.problem_key";
  if (has<Row>(Held::Configuration)) sql += " LEFT JOIN configurations c ON c.key = t.configuration_key";
  if (has<Row>(Held::Time)) sql += " LEFT JOIN metrics m ON m.record_key = t.key AND m.name = 'time_us'";
  return sql;
}

template <class Row>
std::string make_plain_insert(const char* verb) {
  std::string names = fmt::format("{}, checksum", Table<Row>::kKey), parameters = "?, ?";
  for_each_column<Row>([&](const auto& column) {
    const std::string own = own_column(column.name, column.held);
    if (own.empty() || own == Table<Row>::kKey) return;
    names += ", " + own;
    parameters += ", ?";
  });
  return fmt::format("{} INTO {} ({}) VALUES ({})", verb, Table<Row>::kName, names, parameters);
}

template <class Row>
std::string make_insert() {
  if (!Table<Row>::kKeepsPlace) return make_plain_insert<Row>("INSERT OR REPLACE");
  // The key is set as well: it may be what is damaged, which SQLite says when it finds no index entry of the old one.
  std::string sets = fmt::format("{0} = excluded.{0}, checksum = excluded.checksum", Table<Row>::kKey);
  for_each_column<Row>([&](const auto& column) {
    const std::string own = own_column(column.name, column.held);
    if (!own.empty() && own != Table<Row>::kKey) sets += fmt::format(", {0} = excluded.{0}", own);
  });
  return fmt::format("{} ON CONFLICT ({}) DO UPDATE SET {}", make_plain_insert<Row>("INSERT"), Table<Row>::kKey, sets);
}

}  // namespace

template <class Row>
const std::string& select_sql(int version) {
  static const auto texts = [] {
    std::array<std::string, Database::kSchemaVersion> made;
    for (int i = 0; i < Database::kSchemaVersion; ++i) made[static_cast<std::size_t>(i)] = make_select<Row>(i + 1);
    return made;
  }();
  return texts.at(static_cast<std::size_t>(version - 1));
}

template <class Row>
const std::string& insert_sql() {
  static const std::string text = make_insert<Row>();
  return text;
}

template <class Row>
const std::string& insert_new_sql() {
  static const std::string text = fmt::format("{} ON CONFLICT ({}) DO NOTHING", make_plain_insert<Row>("INSERT"), Table<Row>::kKey);
  return text;
}
template const std::string& insert_new_sql<RecordRow>();

#define ATTUNE_ROW(Row)                                     \
  template const std::string& select_sql<Row>(int version); \
  template const std::string& insert_sql<Row>();
ATTUNE_ROW(DeviceRow)
ATTUNE_ROW(TemplateRow)
ATTUNE_ROW(TemplateFileRow)
ATTUNE_ROW(RecordRow)
ATTUNE_ROW(SessionRow)
ATTUNE_ROW(BestRow)
ATTUNE_ROW(InFlightRow)
ATTUNE_ROW(CubinRow)
#undef ATTUNE_ROW

}  // namespace attune::db
