#pragma once
#include <optional>
#include <string>
#include <vector>

#include "db/database.hpp"

namespace attune::tools {

/// What `attune show --failed` lists, and in how much detail.
struct FailedOptions {
  db::Query query;
  std::optional<std::string> configuration;  ///< "block_size=64 items=2" or JSON; part of the parameters is enough
  bool log = false;                          ///< the whole log, and the source that was compiled
  bool json_output = false;
};

/// Prints the failed records of a database.
/// Throws: UsageError when the configuration cannot be read.
void show_failed(const db::Database& database, const FailedOptions& options);

/// The program that was compiled for a record, made again from what the database keeps of its template and device; how it
/// was compiled; or why it cannot be made.
struct StoredSource {
  std::string text;  ///< empty: see `missing`
  std::string architecture;
  std::vector<std::string> options;  ///< as NVRTC gets them, without include folders
  std::string missing;
};

[[nodiscard]] StoredSource source_of(const db::RecordRow& record, const std::vector<db::TemplateRow>& templates,
                                     const std::vector<db::DeviceRow>& devices);

}  // namespace attune::tools
