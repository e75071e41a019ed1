#pragma once
#include <string>
#include <tuple>
#include <type_traits>

namespace attune::db {

/// Where the value of a column is stored.
enum class Held {
  Plain,          ///< in the table's column of that name
  Bytes,          ///< the same, as a blob
  Problem,        ///< in `problems`, under the table's problem_key
  Configuration,  ///< in `configurations`, under the table's configuration_key
  Time,           ///< in `metrics`, under the row's own key and the name time_us
};

/// One field of a row type. All that is said of it anywhere (SQL, checksums, exchange files, messages between processes) is made from this.
template <class Row, class Value>
struct Column {
  const char* name;  ///< of the table's column (Plain, Bytes) and of the field in exchange files
  Value Row::*member;
  Held held = Held::Plain;
  /// The schema version that brought it. Where a row was stored before, or is read from an older file, the field is Value{}, which is the
  /// DEFAULT of the column that the migration adds.
  int since = 1;
  const char* metric = nullptr;  ///< Time: the column of `metrics`
  bool travels = true;           ///< in exchange files
};
template <class Row, class Value>
Column(const char*, Value Row::*) -> Column<Row, Value>;
template <class Row, class Value>
Column(const char*, Value Row::*, Held) -> Column<Row, Value>;
template <class Row, class Value>
Column(const char*, Value Row::*, Held, int) -> Column<Row, Value>;
template <class Row, class Value>
Column(const char*, Value Row::*, Held, int, const char*) -> Column<Row, Value>;
template <class Row, class Value>
Column(const char*, Value Row::*, Held, int, const char*, bool) -> Column<Row, Value>;

/// Columns up to this version are part of every checksum, later ones where they are not Value{}: so a column can be added, and every row
/// that has nothing in it keeps its checksum. docs/decisions/0014-columns.md
inline constexpr int kLastOfEveryChecksum = 2;

template <class Row>
struct Table;

/// Calls `work` with every column of the row type, in their order.
template <class Row, class Work>
void for_each_column(Work&& work) {
  std::apply([&](const auto&... column) { (work(column), ...); }, Table<Row>::kColumns);
}

}  // namespace attune::db
