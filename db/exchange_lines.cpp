#include "db/exchange_lines.hpp"

#include <fmt/core.h>

#include <cmath>

#include "attune/error.hpp"
#include "db/database.hpp"
#include "db/tables.hpp"
#include "tuner/base/hash.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/utf8.hpp"

namespace attune::db {
namespace {

using nlohmann::json;

constexpr std::string_view kPrefix = R"({"checksum":")";
constexpr std::size_t kKeyChars = 32;
constexpr int kMaximumDepth = 4;  // a base16 text of a template's file

/// What lines call a row of the type.
template <class Row>
constexpr const char* kKindOf = nullptr;
template <>
constexpr const char* kKindOf<DeviceRow> = "device";
template <>
constexpr const char* kKindOf<TemplateRow> = "template";
template <>
constexpr const char* kKindOf<SessionRow> = "session";
template <>
constexpr const char* kKindOf<RecordRow> = "record";
template <>
constexpr const char* kKindOf<BestRow> = "best";

std::string base16(const std::string& bytes) {
  std::string digits;
  digits.reserve(2 * bytes.size());
  constexpr const char* kDigits = "0123456789abcdef";
  for (const char c : bytes) {
    digits += kDigits[static_cast<unsigned char>(c) >> 4];
    digits += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return digits;
}

json to_field(const std::string& text) {
  if (base::is_utf8(text)) return text;
  return json{{"base16", base16(text)}};
}
json to_field(double number) {
  // JSON has no infinity; nothing that was measured is one.
  if (!std::isfinite(number)) throw Error(fmt::format("failed writing a row: {} is no finite number", number));
  return number + 0.0;
}
json to_field(bool flag) { return flag; }
json to_field(int number) { return number; }
json to_field(std::uint64_t number) { return number; }

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

[[noreturn]] void bad_field(const char* name, const char* wanted) { throw Error(fmt::format("the field '{}' must be {}", name, wanted)); }

std::string from_base16(const std::string& digits, const char* field) {
  std::string bytes;
  bytes.reserve(digits.size() / 2);
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const int high = hex_digit(digits[i]), low = i + 1 < digits.size() ? hex_digit(digits[i + 1]) : -1;
    if (high < 0 || low < 0) bad_field(field, "pairs of the digits 0-9 and a-f in its base16");
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

void from_field(const json& value, const char* name, std::string& text) {
  if (value.is_string()) {
    text = value.get<std::string>();
    return;
  }
  constexpr const char* kWanted = R"(a text, or {"base16": ...} of one that is no UTF-8)";
  if (!value.is_object() || value.size() != 1 || !value.contains("base16") || !value["base16"].is_string()) {
    bad_field(name, kWanted);
  }
  text = from_base16(value["base16"].get<std::string>(), name);
  if (base::is_utf8(text)) bad_field(name, "a plain string: its base16 stands for UTF-8");
}
void from_field(const json& value, const char* name, double& number) {
  if (!value.is_number_float()) bad_field(name, "a number with a fraction");
  number = value.get<double>();
  if (!std::isfinite(number)) bad_field(name, "finite");
}
void from_field(const json& value, const char* name, bool& flag) {
  if (!value.is_boolean()) bad_field(name, "true or false");
  flag = value.get<bool>();
}
void from_field(const json& value, const char* name, int& number) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > 0x7fffffff) bad_field(name, "a count");
  number = value.get<int>();
}
void from_field(const json& value, const char* name, std::uint64_t& number) {
  if (!value.is_number_unsigned()) bad_field(name, "an unsigned number");
  number = value.get<std::uint64_t>();
}

/// The line of an object: sorted, with its checksum in front.
std::string seal(const json& object) {
  const std::string body = base::dump_json(object);
  return fmt::format("{}{}\",{}", kPrefix, base::content_key(body), body.substr(1));
}

template <class Row>
json object_of(const Row& row) {
  json object = {{"kind", kKindOf<Row>}};
  for_each_column<Row>([&](const auto& column) {
    if (column.travels) object[column.name] = to_field(row.*column.member);
  });
  return object;
}

const json& require(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) throw Error(fmt::format("the field '{}' is missing", name));
  return *found;
}

/// A row of a file of this schema version. `extra`: fields besides those of the table.
template <class Row>
Row row_of(const json& object, int schema, std::size_t extra = 0) {
  Row row;
  std::size_t known = 1 + extra;  // the kind
  for_each_column<Row>([&](const auto& column) {
    if (!column.travels || column.since > schema) return;
    from_field(require(object, column.name), column.name, row.*column.member);
    ++known;
  });
  if (object.size() != known) throw Error(fmt::format("a {} has fields that this build does not know", kKindOf<Row>));
  return row;
}

constexpr std::string_view kBase16 = "base16:";

/// A member's name has to be UTF-8, and a file's need not be.
std::string member_name(const std::string& file) {
  if (base::is_utf8(file) && !file.starts_with(kBase16)) return file;
  return std::string(kBase16) + base16(file);
}
std::string file_name(const std::string& member) {
  if (!member.starts_with(kBase16)) return member;
  const std::string name = from_base16(member.substr(kBase16.size()), "files");
  if (member_name(name) != member) bad_field("files", "of plain names: a base16 name stands for UTF-8");
  return name;
}

TemplateRow template_of(const json& object, int schema) {
  TemplateRow row = row_of<TemplateRow>(object, schema, 1);
  const json& files = require(object, "files");
  if (!files.is_object()) bad_field("files", "an object");
  for (const auto& [name, contents] : files.items()) from_field(contents, "files", row.files[file_name(name)]);
  return row;
}

RowCounts counts_of(const json& object) {
  RowCounts counts;
  from_field(require(object, "devices"), "devices", counts.devices);
  from_field(require(object, "templates"), "templates", counts.templates);
  from_field(require(object, "sessions"), "sessions", counts.sessions);
  from_field(require(object, "records"), "records", counts.records);
  from_field(require(object, "best"), "best", counts.best);
  if (object.size() != 7) throw Error("the last line has fields that this build does not know");
  return counts;
}

/// The schema version of the rows.
int schema_of_header(const json& object) {
  int format = 0, schema = 0;
  from_field(require(object, "attune_exchange"), "attune_exchange", format);
  from_field(require(object, "schema"), "schema", schema);
  if (format != kExchangeFormat) {
    throw Error(
        fmt::format("the file has format {}, and this build reads format {}; update attune, or export it again", format, kExchangeFormat));
  }
  if (schema < 1) throw Error(fmt::format("its rows are said to be of schema {}, and there is none below 1", schema));
  if (schema > Database::kSchemaVersion) {
    throw Error(
        fmt::format("its rows are of schema {}, newer than schema {} of this build; update attune", schema, Database::kSchemaVersion));
  }
  return schema;
}

/// The members behind the checksum, once it matches.
json open_line(std::string_view line) {
  const std::size_t body_at = kPrefix.size() + kKeyChars + 2;
  if (!line.starts_with(kPrefix) || line.size() <= body_at || line.substr(body_at - 2, 2) != "\",") {
    throw Error(R"(a line of an exchange file begins with {"checksum":"<32 digits>",)");
  }
  const std::string body = "{" + std::string(line.substr(body_at));
  if (line.substr(kPrefix.size(), kKeyChars) != base::content_key(body)) {
    throw Error("the line does not match its checksum: it was damaged or edited");
  }
  json object = base::try_parse_shallow_json(body, kMaximumDepth, "the line is nested deeper than any row");
  if (!object.is_object()) throw Error("the line is no JSON object");
  // Also finds a member that is given twice, of which a parser sees one.
  if (base::dump_json(object) != body) throw Error("the line is not in canonical form (sorted members, no spaces)");
  return object;
}

}  // namespace

std::string header_line() { return seal({{"attune_exchange", kExchangeFormat}, {"kind", "header"}, {"schema", Database::kSchemaVersion}}); }
std::string line_of(const DeviceRow& row) { return seal(object_of(row)); }
std::string line_of(const SessionRow& row) { return seal(object_of(row)); }
std::string line_of(const RecordRow& row) { return seal(object_of(row)); }
std::string line_of(const BestRow& row) { return seal(object_of(row)); }
std::string line_of(const TemplateRow& row) {
  json object = object_of(row);
  object["files"] = json::object();
  for (const auto& [name, contents] : row.files) object["files"][member_name(name)] = to_field(contents);
  return seal(object);
}

std::string end_line(const RowCounts& counts, const std::string& digest) {
  return seal({{"kind", "end"},
               {"devices", counts.devices},
               {"templates", counts.templates},
               {"sessions", counts.sessions},
               {"records", counts.records},
               {"best", counts.best},
               {"digest", digest}});
}

std::string_view checksum_of(std::string_view line) { return line.substr(kPrefix.size(), kKeyChars); }

LineKind read_line(std::string_view line, RowSink& sink, int& schema, EndOfRows& end) {
  const json object = open_line(line);
  std::string kind;
  from_field(require(object, "kind"), "kind", kind);
  if (kind == "header") return schema = schema_of_header(object), LineKind::Header;
  if (kind == "end") {
    end.counts = counts_of(object);
    from_field(require(object, "digest"), "digest", end.digest);
    return LineKind::End;
  }
  if (kind == kKindOf<DeviceRow>) {
    sink.take(row_of<DeviceRow>(object, schema));
  } else if (kind == kKindOf<TemplateRow>) {
    sink.take(template_of(object, schema));
  } else if (kind == kKindOf<SessionRow>) {
    sink.take(row_of<SessionRow>(object, schema));
  } else if (kind == kKindOf<RecordRow>) {
    sink.take(row_of<RecordRow>(object, schema));
  } else if (kind == kKindOf<BestRow>) {
    sink.take(row_of<BestRow>(object, schema));
  } else {
    throw Error(fmt::format("'{}' is no kind of row that this build knows", kind));
  }
  return LineKind::Row;
}

}  // namespace attune::db
