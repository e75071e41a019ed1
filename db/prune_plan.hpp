#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "db/prune.hpp"
#include "db/statements.hpp"

namespace attune::db {

/// The rows that a request removes, by where they lie.
struct PrunePlan {
  std::vector<std::uint64_t> records, best, sessions, cubins;
  std::vector<std::uint64_t> templates, template_files;
  std::vector<std::string> devices;  ///< keys: their table has no row numbers
  PruneReport report;
};

/// What is chosen, and why:
/// - A best row and the record of its configuration go together or stay together: a best row without a verified record does not travel,
///   and a record without its best row would be chosen again by nobody. So both have to meet the conditions.
/// - Everything of a problem that a running session tunes stays.
/// - The newest session of a problem stays as long as anything of the problem does: it tells the device's measured ceiling.
/// - Cubins that no best row names any more go, whatever the conditions: nothing can find them.
/// - Up to a size, the least valuable goes first. First what no best row needs, records and older sessions, oldest first: measuring
///   again brings it back, and dispatch never reads it. Then best rows of versions that have a newer result of their problem, oldest
///   first. Then the others, oldest first.
/// Checksums are not looked at: a damaged row is never used, so it may go like any other.
/// Requires: one state of the file throughout (a transaction). Throws: what SQLite throws.
[[nodiscard]] PrunePlan plan_prune(StatementCache& statements, const PruneRequest& request);

}  // namespace attune::db
