#pragma once
#include <filesystem>

#include "db/database.hpp"
#include "tools/tuning.hpp"

namespace attune::tools {

/// Opens the database of a run for writing. SIGINT and SIGTERM end the waiting for another process that has it, now and, once they
/// only stop the run (run_tuning), in the run. Throws: DatabaseError; Error (ExitCode::Interrupted).
[[nodiscard]] db::Database open_stoppable(const std::filesystem::path& path);

struct OpenedResults {
  db::Database database;
  std::filesystem::path path;
};
/// The database of a run. One that nobody named is no reason not to run: the results are then printed and forgotten.
/// Throws: DatabaseError when a database that was named cannot be written, or the run needs one (several GPUs).
[[nodiscard]] OpenedResults open_results(const TuningOptions& options);

}  // namespace attune::tools
