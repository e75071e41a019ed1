#pragma once
// Exchange files as texts, made of rows, and a database to import them into.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "db/exchange_lines.hpp"
#include "tests/support/exchange_files.hpp"
#include "tests/unit/db/exchange_fixture.hpp"

namespace attune::db::test {

inline std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

/// A line with a checksum that matches, whatever it says.
inline std::string sealed(const std::string& body) { return R"({"checksum":")" + base::content_key(body) + "\"," + body.substr(1); }

inline std::string body_of(const std::string& line) { return "{" + line.substr(line.find(',') + 1); }

/// Header, these rows, and an end that counts them: all that is wrong is what the rows say.
inline std::string file_of(const std::vector<std::string>& rows, const RowCounts& counts) {
  base::ContentHasher digest;
  std::string text = header_line() + "\n";
  for (const std::string& row : rows) {
    digest.add(checksum_of(row));
    text += row + "\n";
  }
  return text + end_line(counts, digest.key()) + "\n";
}

/// Device 0 and template 0, which other rows refer to.
inline std::vector<std::string> base_rows() { return {line_of(real_device(0)), line_of(real_template(0))}; }

template <class Row>
std::string file_with(const Row& row) {
  std::vector<std::string> rows = base_rows();
  rows.push_back(line_of(row));
  RowCounts counts;
  counts.devices = counts.templates = counts.best = 1;  // the sum is what counts here
  return file_of(rows, counts);
}

template <class Row, class Change>
std::string file_changed(Row row, Change&& change) {
  change(row);
  return file_with(row);
}

inline std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), with);
}

/// A sealed record whose body was changed as text.
inline std::string file_edited(const std::string& what, const std::string& with) {
  std::vector<std::string> rows = base_rows();
  rows.push_back(sealed(replaced(body_of(line_of(real_record(1))), what, with)));
  RowCounts counts;
  counts.records = 3;
  return file_of(rows, counts);
}

/// What an exchange file is imported into.
struct Target {
  TemporaryFolder folder;
  Database database = Database::open(folder / "target.db", OpenMode::ReadWrite);

  ImportReport import_text(const std::string& text, const std::string& name = "rows.jsonl") {
    write_bytes(folder / name, text);
    NoRules rules;
    return import_file(database, folder / name, rules);
  }

  /// The message of the refusal, which must be the file's, leave the database as it was, and name file and line.
  std::string refusal(const std::string& text, int line) {
    const std::string before = export_text(database);
    std::string message = "nothing was refused";
    try {
      (void)import_text(text);
    } catch (const SpecError& error) {
      message = error.what();
      CHECK(error.line() == line);
      CHECK(error.file() == (folder / "rows.jsonl").string());
    }
    CHECK(export_text(database) == before);
    return message;
  }
};

}  // namespace attune::db::test
