#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace attune::tools {

struct DbWork {
  std::filesystem::path database;
  std::vector<std::string> files;
  bool json_output = false;
};

/// What `attune db export|import|merge|vacuum` do; each returns the exit code. On a terminal they show how far they are;
/// Ctrl-C ends them with 130, and nothing of the work stays. Throw: attune::Error.
[[nodiscard]] int export_rows(const DbWork& work);
[[nodiscard]] int import_rows(const DbWork& work);
[[nodiscard]] int merge_databases(const DbWork& work);
[[nodiscard]] int vacuum_database(const DbWork& work);

}  // namespace attune::tools
