#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "db/database.hpp"
#include "tuner/base/line_file.hpp"

namespace attune::db {

/// Rows between databases: export to lines, import of lines, merging of files. Configurations, measurements, templates and
/// devices travel; cubins, what is in flight and running sessions do not. Merging in one call is commutative, associative and
/// idempotent as far as exports show (db/row_order.hpp): of the best rows of all files those whose configurations work by the records
/// of all files count. Several calls come to the same but for best rows: one that gave way to another is gone when a later call
/// contradicts that one. Export, import into an empty database, export gives the same bytes. docs/database.md describes the format.

/// Called for every row; an exception ends the work, and nothing of it stays.
using OnRow = std::function<void(std::uint64_t rows_done)>;

struct ExportReport {
  RowCounts rows;
  LeftOut left_out;
  std::string first_refusal;  ///< the first row that no import takes, and why; empty when there is none
};

/// Gives the lines of a database, without line ends: of what an import with the same `rules` takes, so that none is refused for one
/// row. Throws: DatabaseError, what `write` and `on_row` throw.
ExportReport export_lines(const Database& database, const std::function<void(const std::string& line)>& write, RowSink& rules,
                          const OnRow& on_row = {});

struct ImportReport {
  RowCounts rows;    ///< read
  RowCounts stored;  ///< of these: new, or later in the order than what was there
  LeftOut left_out;  ///< of merged files, and contradicted best rows
};

/// Reads the lines that `export_lines` gave into `database`, in one transaction: one bad line and nothing is stored.
/// `rules` sees each row before it is stored and throws Error to refuse it; db/ itself checks what needs no knowledge of
/// templates: types, ranges, hashes, references, and that the record of every best row's configuration is in the file or in
/// the database, and verified. Rows are read and checked into a temporary database first; `database` is locked only while the
/// checked rows are stored. A best row whose configuration fails by a later record of the other side is left out, or removed. A
/// second row of one key is refused: an export has none.
/// The caller opens the file first, so that a wrong name creates no database. `name` is for errors.
/// Throws: SpecError naming file and line, DatabaseError, what `on_row` throws.
ImportReport import_lines(Database& database, base::LineReader& lines, const std::string& name, RowSink& rules, const OnRow& on_row = {});

/// Opens the database files that are to be merged into `target`, read-only; neither opens nor creates that.
/// Throws: UsageError (no such file, or `target` itself), DatabaseError.
[[nodiscard]] std::vector<Database> open_for_merging(const std::filesystem::path& target, const std::vector<std::filesystem::path>& files,
                                                     const KeepGoing& keep_going = {});
/// Takes their rows in one transaction. Damaged rows of theirs, and best rows that are not verified by any of the files, are left out and
/// counted; a row that `rules` refuses ends the merge, and nothing is stored.
/// Throws: SpecError naming the file and the row, DatabaseError.
ImportReport merge_opened(Database& database, const std::vector<Database>& others, RowSink& rules, const OnRow& on_row = {});

}  // namespace attune::db
