#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "db/statements.hpp"

namespace attune::db {

/// A column of a row as SQLite stores it; views into the cell that is being visited.
using StoredValue = std::variant<std::monostate, std::int64_t, double, std::string_view, Blob>;

/// One row of a table, or one entry of an index.
struct Cell {
  std::optional<std::int64_t> row_number;  ///< of a table that has them
  std::vector<StoredValue> values;         ///< the column that is an alias of the row's number is empty
};

/// Visits every cell that lies on any page of a database file, whatever header, schema and the other pages say: neither the way to a page
/// nor the page's own figures need be sound, only the cell and its pointer. Pages that a sound WAL beside the file has newer
/// are taken from that. Where the file and its WAL tell of different sizes of a page, all of them are tried. Cells of pages that are no
/// longer used come as well, and bytes that only look like one: the visitor has to know a row of its own by its content. `each_page` is
/// called before every page; what it throws ends the visit. Source: https://www.sqlite.org/fileformat.html. Throws: SQLite::Exception
/// (SQLITE_CANTOPEN, SQLITE_IOERR) when the file cannot be read.
void for_each_cell(const std::filesystem::path& path, const std::function<void()>& each_page,
                   const std::function<void(const Cell&)>& visit);

}  // namespace attune::db
