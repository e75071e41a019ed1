#pragma once
#include <string>
#include <string_view>

#include "db/records.hpp"

namespace attune::db {

/// The lines of an exchange file. A line is a JSON object whose first member is the checksum of the others; the others are
/// sorted by name, without spaces, and each text is a string, or {"base16": "..."} when it is no UTF-8. One row has one
/// spelling, so that equal databases give equal files.
inline constexpr int kExchangeFormat = 1;

/// {"checksum", "attune_exchange": 1, "kind": "header", "schema": 2}
[[nodiscard]] std::string header_line();
[[nodiscard]] std::string line_of(const DeviceRow& row);
[[nodiscard]] std::string line_of(const TemplateRow& row);
[[nodiscard]] std::string line_of(const SessionRow& row);
[[nodiscard]] std::string line_of(const RecordRow& row);
/// Without the cubin's key.
[[nodiscard]] std::string line_of(const BestRow& row);
/// The last line: how many rows there are, and `digest`, the content key of their checksums: a file that was cut, or of
/// which a line is gone, shows.
[[nodiscard]] std::string end_line(const RowCounts& counts, const std::string& digest);
/// The checksum that a line begins with.
[[nodiscard]] std::string_view checksum_of(std::string_view line);

enum class LineKind { Header, Row, End };

/// What the end line says.
struct EndOfRows {
  RowCounts counts;
  std::string digest;
};

/// Reads one line. The header sets `schema`, the version of the rows behind it, of which later fields are not expected; a row goes to
/// `sink`; the end line into `end`.
/// Throws: Error saying what is wrong with it, without the place: no JSON, not in canonical form, a wrong checksum, an
/// unknown kind, a field that is missing, unknown or of another type, another format or a newer schema.
LineKind read_line(std::string_view line, RowSink& sink, int& schema, EndOfRows& end);

}  // namespace attune::db
