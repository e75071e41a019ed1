#include "tools/tuning_database.hpp"

#include <cstdlib>

#include "attune/error.hpp"
#include "tools/device_list.hpp"
#include "tools/stop_signals.hpp"
#include "tuner/base/escape.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/session/fleet/stop_patience.hpp"

namespace attune::tools {
namespace {

bool is_named(const TuningOptions& options) {
  const char* const variable = std::getenv("ATTUNE_DB");
  return !options.database.empty() || (variable != nullptr && *variable != '\0');
}

}  // namespace

db::Database open_stoppable(const std::filesystem::path& path) {
  refuse_shipped(path, "writing to");
  stop_on_signals();
  const auto tell = [path] {
    base::tell_message("waiting for " + base::escape_line(path.string()) + ", which another process has locked");
  };
  try {
    auto database =
        db::Database::open(path, db::OpenMode::ReadWrite, session::StopPatience(stop_asked, session::StopPatience::Clock::now, tell));
    end_on_signals();  // what comes before the run, a device that is set up, cannot ask
    return database;
  } catch (const DatabaseError&) {
    end_on_signals();
    throw;
  }
}

OpenedResults open_results(const TuningOptions& options) {
  try {
    const auto path = database_path(options.database);
    return {open_stoppable(path), path};
  } catch (const DatabaseError& error) {
    if (is_named(options) || DeviceList::parse(options.device).several()) throw;
    base::tell_message(error.what());
    base::tell_message("the results of this run are not stored, only printed at its end; name a file with --db or ATTUNE_DB to keep them");
    return {db::Database::open_in_memory(), db::Database::kInMemory};
  }
}

}  // namespace attune::tools
