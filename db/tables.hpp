#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "db/records.hpp"
#include "tuner/base/hash.hpp"

namespace attune::db {

/// Rows that have no public struct.
struct InFlightRow {
  std::string session_key;
  std::string configuration;
};
struct TemplateFileRow {
  std::string template_hash;
  std::string name;
  std::string contents;
};
struct CubinRow {
  std::string key;
  std::string cubin;
  std::string detail_json;
};

/// How a row type is stored: kName, kFields (in the order of kSelect's columns from the third on; columns one and two
/// are the key and the checksum), kOrder (total), kWhereKey (selects one row), kPlace (the column that the table itself, no
/// index, is ordered by) and `key`, the content key (or given name)
/// that rows merge by.
template <class Row>
struct Table;

template <>
struct Table<DeviceRow> {
  static constexpr const char* kName = "devices";
  static constexpr const char* kPlace = "hard_key";
  static constexpr auto kFields = std::tuple{&DeviceRow::hard_key, &DeviceRow::hard_json, &DeviceRow::info_json};
  static const char* const kSelect;
  static const char* const kOrder;
  static const char* const kWhereKey;
  static std::string key(const DeviceRow& row) { return row.hard_key; }
};

template <>
struct Table<TemplateRow> {
  static constexpr const char* kName = "templates";
  static constexpr const char* kPlace = "rowid";
  static constexpr auto kFields = std::tuple{&TemplateRow::hash, &TemplateRow::name, &TemplateRow::spec_json};
  static const char* const kSelect;
  static const char* const kOrder;
  static const char* const kWhereKey;
  static std::string key(const TemplateRow& row) { return row.hash; }
};

template <>
struct Table<TemplateFileRow> {
  static constexpr const char* kName = "template_files";
  static constexpr const char* kPlace = "rowid";
  static constexpr auto kFields =
      std::tuple{&TemplateFileRow::template_hash, &TemplateFileRow::name, &TemplateFileRow::contents};
  static const char* const kSelect;
  static const char* const kOrder;
  static const char* const kWhereKey;
  static std::string key(const TemplateFileRow& row);
};

template <>
struct Table<RecordRow> {
  static constexpr const char* kName = "records";
  static constexpr const char* kPlace = "t.rowid";
  static constexpr auto kFields =
      std::tuple{&RecordRow::template_hash, &RecordRow::problem, &RecordRow::device_key, &RecordRow::policy,
                 &RecordRow::configuration, &RecordRow::outcome, &RecordRow::stage,      &RecordRow::verified,
                 &RecordRow::median_us,     &RecordRow::low_us,  &RecordRow::high_us,    &RecordRow::samples,
                 &RecordRow::detail_json,   &RecordRow::driver,  &RecordRow::nvrtc,      &RecordRow::recorded_at,
                 &RecordRow::origin};
  static const char* const kSelect;
  static const char* const kOrder;
  static const char* const kWhereKey;
  static std::string key(const RecordRow& row);
};

template <>
struct Table<SessionRow> {
  static constexpr const char* kName = "sessions";
  static constexpr const char* kPlace = "t.rowid";
  static constexpr auto kFields = std::tuple{
      &SessionRow::key,        &SessionRow::template_hash, &SessionRow::problem,     &SessionRow::device_key,
      &SessionRow::policy,     &SessionRow::strategy,      &SessionRow::seed,        &SessionRow::state,
      &SessionRow::space_size, &SessionRow::started_at,    &SessionRow::finished_at, &SessionRow::summary_json};
  static const char* const kSelect;
  static const char* const kOrder;
  static const char* const kWhereKey;
  static std::string key(const SessionRow& row) { return row.key; }
};

template <>
struct Table<BestRow> {
  static constexpr const char* kName = "best";
  static constexpr const char* kPlace = "t.rowid";
  static constexpr auto kFields =
      std::tuple{&BestRow::template_hash, &BestRow::template_name, &BestRow::family,      &BestRow::problem,
                 &BestRow::sizes_json,    &BestRow::device_key,    &BestRow::policy,      &BestRow::objective,
                 &BestRow::configuration, &BestRow::median_us,     &BestRow::default_us,  &BestRow::tie,
                 &BestRow::cubin_key,     &BestRow::driver,        &BestRow::recorded_at, &BestRow::detail_json};
  static const char* const kSelect;
  static const char* const kOrder;
  static const char* const kWhereKey;
  static std::string key(const BestRow& row);
};

template <>
struct Table<InFlightRow> {
  static constexpr const char* kName = "in_flight";
  static constexpr const char* kPlace = "session_key";
  static constexpr auto kFields = std::tuple{&InFlightRow::session_key, &InFlightRow::configuration};
  static const char* const kSelect;
  static const char* const kOrder;
  static const char* const kWhereKey;
  static std::string key(const InFlightRow& row) { return row.session_key; }
};

template <>
struct Table<CubinRow> {
  static constexpr const char* kName = "cubins";
  static constexpr const char* kPlace = "rowid";
  static constexpr auto kFields = std::tuple{&CubinRow::key, &CubinRow::cubin, &CubinRow::detail_json};
  static const char* const kSelect;
  static const char* const kOrder;
  static const char* const kWhereKey;
  static std::string key(const CubinRow& row) { return row.key; }
};

/// A value of the column kPlace: of a table with a rowid, or by its text key.
template <class Row>
using Place = std::conditional_t<std::string_view(Table<Row>::kPlace).ends_with("rowid"), std::uint64_t, std::string>;

/// One field as a checksum takes it. Numbers go in as text: the same on every machine, and as exact as the number.
std::string checksum_text(double number);
inline const std::string& checksum_text(const std::string& text) { return text; }
inline std::string checksum_text(int number) { return std::to_string(number); }
inline std::string checksum_text(std::uint64_t number) { return std::to_string(number); }
inline std::string checksum_text(bool flag) { return flag ? "1" : "0"; }

/// Checksum of a row under the key it is stored by: a damaged key column shows as well as a damaged field.
template <class Row>
[[nodiscard]] std::string checksum(const std::string& key, const Row& row) {
  base::ContentHasher hasher;
  hasher.add(Table<Row>::kName).add(key);
  std::apply([&](auto... field) { (hasher.add(checksum_text(row.*field)), ...); }, Table<Row>::kFields);
  return hasher.key();
}

/// A WHERE clause and the values of its parameters.
struct Filter {
  std::string where;
  std::vector<std::string> values;
};

/// Of the row types that a Query selects: RecordRow, SessionRow, BestRow.
template <class Row>
[[nodiscard]] Filter filter_of(const Query& query);
template <>
Filter filter_of<RecordRow>(const Query& query);
template <>
Filter filter_of<SessionRow>(const Query& query);
template <>
Filter filter_of<BestRow>(const Query& query);

/// Whether a row really is what the query asked for. A damaged index entry can lead to an undamaged row that is not.
template <class Row>
[[nodiscard]] bool matches(const Query& query, const Row& row) {
  return (!query.template_hash || *query.template_hash == row.template_hash) &&
         (!query.problem || *query.problem == row.problem) &&
         (!query.device_key || *query.device_key == row.device_key) && (!query.policy || *query.policy == row.policy);
}

}  // namespace attune::db
