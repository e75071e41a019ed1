#pragma once
#include <filesystem>
#include <vector>

#include "db/exchange.hpp"

namespace attune::db::test {

/// import_lines of a file. Throws: UsageError when there is none.
inline ImportReport import_file(Database& database, const std::filesystem::path& file, RowSink& rules, const OnRow& on_row = {}) {
  base::LineReader lines(file);
  return import_lines(database, lines, file.string(), rules, on_row);
}

/// merge_opened of files.
inline ImportReport merge_files(Database& database, const std::vector<std::filesystem::path>& files, RowSink& rules) {
  return merge_opened(database, open_for_merging(database.path(), files), rules);
}

}  // namespace attune::db::test
