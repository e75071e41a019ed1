#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "db/columns.hpp"
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

/// How a row type is stored: kName, kColumns, kKey (the column of its key), kOrder (total), kPlace (the column that the table itself, no
/// index, is ordered by), kKeepsPlace (a row that is replaced stays where it is), and `key`, the content key (or given name)
/// that rows merge by. In SQL the table is `t`, the texts that it names are `p` (problems) and `c` (configurations).
template <class Row>
struct Table;

template <>
struct Table<DeviceRow> {
  static constexpr const char* kName = "devices";
  static constexpr const char* kKey = "hard_key";
  static constexpr const char* kPlace = "hard_key";
  static constexpr const char* kOrder = " ORDER BY t.hard_key";
  static constexpr bool kKeepsPlace = true;
  static constexpr std::tuple kColumns{Column{"hard_key", &DeviceRow::hard_key}, Column{"hard_json", &DeviceRow::hard_json},
                                       Column{"info_json", &DeviceRow::info_json}};
  static std::string key(const DeviceRow& row) { return row.hard_key; }
};

template <>
struct Table<TemplateRow> {
  static constexpr const char* kName = "templates";
  static constexpr const char* kKey = "hash";
  static constexpr const char* kPlace = "rowid";
  static constexpr const char* kOrder = " ORDER BY t.name, t.hash";
  static constexpr bool kKeepsPlace = true;
  static constexpr std::tuple kColumns{Column{"hash", &TemplateRow::hash}, Column{"name", &TemplateRow::name},
                                       Column{"spec_json", &TemplateRow::spec_json}};
  static std::string key(const TemplateRow& row) { return row.hash; }
};

template <>
struct Table<TemplateFileRow> {
  static constexpr const char* kName = "template_files";
  static constexpr const char* kKey = "key";
  static constexpr const char* kPlace = "rowid";
  static constexpr const char* kOrder = " ORDER BY t.template_hash, t.name";
  static constexpr bool kKeepsPlace = false;
  static constexpr std::tuple kColumns{Column{"template_hash", &TemplateFileRow::template_hash}, Column{"name", &TemplateFileRow::name},
                                       Column{"contents", &TemplateFileRow::contents, Held::Bytes}};
  static std::string key(const TemplateFileRow& row);
};

template <>
struct Table<RecordRow> {
  static constexpr const char* kName = "records";
  static constexpr const char* kKey = "key";
  static constexpr const char* kPlace = "rowid";
  // The order of the index: no sort. Within a problem, records come as they were first stored.
  static constexpr const char* kOrder = " ORDER BY t.template_hash, t.problem_key, t.device_key, t.policy, t.id";
  static constexpr bool kKeepsPlace = true;
  static constexpr std::tuple kColumns{Column{"template_hash", &RecordRow::template_hash},
                                       Column{"problem", &RecordRow::problem, Held::Problem},
                                       Column{"device_key", &RecordRow::device_key},
                                       Column{"policy", &RecordRow::policy},
                                       Column{"configuration", &RecordRow::configuration, Held::Configuration},
                                       Column{"outcome", &RecordRow::outcome},
                                       Column{"stage", &RecordRow::stage},
                                       Column{"verified", &RecordRow::verified},
                                       Column{"median_us", &RecordRow::median_us, Held::Time, 1, "value"},
                                       Column{"low_us", &RecordRow::low_us, Held::Time, 1, "low"},
                                       Column{"high_us", &RecordRow::high_us, Held::Time, 1, "high"},
                                       Column{"samples", &RecordRow::samples, Held::Time, 1, "samples"},
                                       Column{"detail_json", &RecordRow::detail_json},
                                       Column{"driver", &RecordRow::driver},
                                       Column{"nvrtc", &RecordRow::nvrtc},
                                       Column{"recorded_at", &RecordRow::recorded_at},
                                       Column{"origin", &RecordRow::origin}};
  static std::string key(const RecordRow& row);
};

template <>
struct Table<SessionRow> {
  static constexpr const char* kName = "sessions";
  static constexpr const char* kKey = "key";
  static constexpr const char* kPlace = "rowid";
  static constexpr const char* kOrder = " ORDER BY t.started_at, t.key";
  static constexpr bool kKeepsPlace = false;
  static constexpr std::tuple kColumns{Column{"key", &SessionRow::key},
                                       Column{"template_hash", &SessionRow::template_hash},
                                       Column{"problem", &SessionRow::problem, Held::Problem},
                                       Column{"device_key", &SessionRow::device_key},
                                       Column{"policy", &SessionRow::policy},
                                       Column{"strategy", &SessionRow::strategy},
                                       Column{"seed", &SessionRow::seed},
                                       Column{"state", &SessionRow::state},
                                       Column{"space_size", &SessionRow::space_size},
                                       Column{"started_at", &SessionRow::started_at},
                                       Column{"finished_at", &SessionRow::finished_at},
                                       Column{"summary_json", &SessionRow::summary_json}};
  static std::string key(const SessionRow& row) { return row.key; }
};

template <>
struct Table<BestRow> {
  static constexpr const char* kName = "best";
  static constexpr const char* kKey = "key";
  static constexpr const char* kPlace = "rowid";
  static constexpr const char* kOrder = " ORDER BY t.template_name, t.template_hash, t.family, t.device_key, t.policy, t.objective, p.text";
  static constexpr bool kKeepsPlace = false;
  static constexpr std::tuple kColumns{Column{"template_hash", &BestRow::template_hash},
                                       Column{"template_name", &BestRow::template_name},
                                       Column{"family", &BestRow::family},
                                       Column{"problem", &BestRow::problem, Held::Problem},
                                       Column{"sizes_json", &BestRow::sizes_json},
                                       Column{"device_key", &BestRow::device_key},
                                       Column{"policy", &BestRow::policy},
                                       Column{"objective", &BestRow::objective},
                                       Column{"configuration", &BestRow::configuration, Held::Configuration},
                                       Column{"median_us", &BestRow::median_us},
                                       Column{"default_us", &BestRow::default_us},
                                       Column{"tie", &BestRow::tie},
                                       Column{"cubin_key", &BestRow::cubin_key, Held::Plain, 1, nullptr, false},
                                       Column{"driver", &BestRow::driver},
                                       Column{"recorded_at", &BestRow::recorded_at},
                                       Column{"detail_json", &BestRow::detail_json},
                                       Column{"nvrtc", &BestRow::nvrtc, Held::Plain, 3}};
  static std::string key(const BestRow& row);
};

template <>
struct Table<InFlightRow> {
  static constexpr const char* kName = "in_flight";
  static constexpr const char* kKey = "session_key";
  static constexpr const char* kPlace = "session_key";
  static constexpr const char* kOrder = " ORDER BY t.session_key";
  static constexpr bool kKeepsPlace = false;
  static constexpr std::tuple kColumns{Column{"session_key", &InFlightRow::session_key},
                                       Column{"configuration", &InFlightRow::configuration}};
  static std::string key(const InFlightRow& row) { return row.session_key; }
};

template <>
struct Table<CubinRow> {
  static constexpr const char* kName = "cubins";
  static constexpr const char* kKey = "key";
  static constexpr const char* kPlace = "rowid";
  static constexpr const char* kOrder = " ORDER BY t.key";
  static constexpr bool kKeepsPlace = false;
  static constexpr std::tuple kColumns{Column{"key", &CubinRow::key}, Column{"cubin", &CubinRow::cubin, Held::Bytes},
                                       Column{"detail_json", &CubinRow::detail_json}};
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
  for_each_column<Row>([&]<class Value>(const Column<Row, Value>& column) {
    const Value& value = row.*column.member;
    if (column.since <= kLastOfEveryChecksum)
      hasher.add(checksum_text(value));
    else if (value != Value{})
      hasher.add(column.name).add(checksum_text(value));
  });
  return hasher.key();
}

/// A WHERE clause and the values of its parameters.
struct Filter {
  std::string where;
  std::vector<std::string> values;
};

/// For the row types that a Query selects: RecordRow, SessionRow, BestRow.
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
  return (!query.template_hash || *query.template_hash == row.template_hash) && (!query.problem || *query.problem == row.problem) &&
         (!query.device_key || *query.device_key == row.device_key) && (!query.policy || *query.policy == row.policy);
}

}  // namespace attune::db
