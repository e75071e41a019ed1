#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <system_error>

#include "attune/error.hpp"
#include "db/database.hpp"
#include "db/file_system.hpp"
#include "tools/amounts.hpp"
#include "tools/doctor/checks.hpp"
#include "tuner/base/escape.hpp"
#include "tuner/base/private_path.hpp"
#include "tuner/runtime/layers.hpp"
#include "tuner/session/tune/renewal.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::tools::doctor {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kReadWhole = std::uint64_t{1} << 30;  ///< larger files take long to check

bool is_there(const fs::path& path) {
  std::error_code ignored;  // what cannot be looked at is not there
  return fs::exists(path, ignored);
}

/// Why it cannot be seen whether there is a file: a folder on the way belongs to others, or a link leads nowhere. Empty where it can.
std::string why_unseen(const fs::path& path) {
  std::error_code error;
  if (fs::status(path, error).type() != fs::file_type::not_found || !fs::is_symlink(fs::symlink_status(path, error)))
    return error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory ? error.message() : "";
  return "it is a link that leads nowhere";
}

/// The folder where a file would be made, or the nearest one that is there.
fs::path nearest_folder(const fs::path& path) {
  std::error_code ignored;
  fs::path folder = fs::absolute(path, ignored).parent_path();
  while (!is_there(folder) && folder.has_relative_path()) folder = folder.parent_path();
  return folder;
}

void check_rows(const db::Database& database, const std::string& option, Area& area) {
  if (database.info().bytes > kReadWhole) {
    area.note("it is large, and its rows were not read", "attune db check" + option);
    return;
  }
  const auto report = database.check();
  if (report.ok)
    area.fine(fmt::format("sound: {} rows checked", report.rows_checked));
  else
    area.wrong(fmt::format("damaged: {} of {} rows are bad and never used{}", report.bad_rows, report.rows_checked,
                           report.problems.empty() ? "" : "; " + report.problems.front()),
               "tune again what is missing (attune db check" + option + " lists it), or put a copy in its place");
}

/// What of its results dispatch can use here, and what waits for `attune renew`.
void check_matches(const std::vector<db::BestRow>& rows, const Machine& machine, const std::string& option, bool is_shipped, Area& area) {
  if (rows.empty()) {
    area.fine("no results yet");
    return;
  }
  const spec::TemplateLibrary library;
  const auto names = library.names();
  const session::Present present{machine.devices.empty() ? "" : machine.devices.front().hard_key(),
                                 machine.devices.empty() ? "" : machine.devices.front().driver, machine.nvrtc,
                                 [&](const std::string& name) -> std::optional<spec::KernelTemplate> {
                                   if (std::find(names.begin(), names.end(), name) == names.end()) return std::nullopt;
                                   return library.find(name);
                                 }};
  const auto plan = session::plan_renewal(rows, present);
  std::uint64_t stale = 0, aged = 0;
  for (const auto& renewal : plan.renewals) {
    stale += renewal.problems.size();
    aged += renewal.aged;
  }
  if (machine.devices.empty()) {
    area.fine(fmt::format("{} results; which are of this machine is not known without a GPU", rows.size()));
    return;
  }
  const std::string found = fmt::format("{} results: {} problems of this kind of GPU are current, {} results are of other kinds",
                                        rows.size(), plan.current, plan.of_other_devices);
  if (stale > 0 && is_shipped)  // belongs to the package
    area.note(fmt::format("{}; {} problems are of another template, driver or compiler", found, stale),
              "attune tune, of what matters to you: your own results come first");
  else if (stale > 0)
    area.note(fmt::format("{}; {} problems are of another template, driver or compiler, {} of them only aged", found, stale, aged),
              "attune renew" + option + (aged == stale ? " --aged" : "") + " --dry-run");
  else
    area.fine(found);
  if (!plan.impossible.empty())
    area.note(fmt::format("{} problems cannot be asked any more: {}", plan.impossible.size(), plan.impossible.front().why));
}

/// A clock that was set back makes new results look older than those they replace.
void check_dates(const std::vector<db::BestRow>& rows, Area& area) {
  std::string newest;
  for (const auto& row : rows) newest = std::max(newest, row.recorded_at);
  const std::string limit = moment_text(std::chrono::system_clock::now() + std::chrono::hours(24));
  if (newest > limit)
    area.note(fmt::format("its newest result is of {}, later than this machine's clock says it is", newest),
              "set the clock: of two results the later counts (timedatectl status)");
}

/// Only an owner may change modes.
bool is_own(const fs::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && status.st_uid == ::geteuid();
}

void check_writable(const fs::path& path, Area& area) {
  // Its folder too: a lock and a log stand beside it.
  for (const fs::path& asked : {path, nearest_folder(path)}) {
    if (is_there(asked) && ::access(asked.c_str(), fs::is_directory(asked) ? W_OK | X_OK : W_OK) != 0)
      area.wrong(fmt::format("{} cannot be written by this user", asked.string()),
                 is_own(asked) ? fmt::format("choose another with --db or ATTUNE_DB, or: chmod u+w {}", base::shell_quoted(asked.string()))
                               : "choose another with --db or ATTUNE_DB");
  }
  if (const auto network = db::network_file_system_of(path))
    area.note(fmt::format("it lies on {}: several hosts may read it, and one at a time may write", *network),
              "tune into a local file and merge: attune db merge");
  if (const std::string why = is_there(path) ? base::why_not_private_database(path) : std::string(); !why.empty())
    area.note("its stored code is not loaded, and compiled anew: " + why);
}

void check_file(const fs::path& path, const Machine& machine, const std::string& option, bool is_shipped, Area& area) {
  try {
    const auto database = db::Database::open(path, db::OpenMode::ReadOnly);
    const auto info = database.info();
    area.fine(fmt::format("{}: {}, schema {}, {} records, {} results", info.path, bytes_text(info.bytes), info.schema_version, info.records,
                          info.best));
    for (const auto& notice : database.notices()) area.note(notice);
    check_rows(database, option, area);
    const auto rows = database.best({});
    check_matches(rows, machine, option, is_shipped, area);
    check_dates(rows, area);
  } catch (const Error& error) {
    area.wrong(error.what(), "put a sound copy in its place, or name another file: --db, ATTUNE_DB");
  }
}

}  // namespace

void check_databases(const Machine& machine, const std::string& named, Findings& findings) {
  Area own("database", findings);
  try {
    const fs::path path = database_path(named);
    const std::string option = named.empty() ? "" : " --db " + base::shell_quoted(named);
    if (const std::string why = why_unseen(path); !why.empty())
      own.wrong(fmt::format("{} cannot be looked at: {}", path.string(), why), "name another file: --db, ATTUNE_DB");
    else if (is_there(path))
      check_file(path, machine, option, false, own);
    else
      own.fine(fmt::format("none yet at {}: the first tuning run makes it", path.string()));
    check_writable(path, own);
  } catch (const Error& error) {
    own.wrong(error.what(), "name one: export ATTUNE_DB=/path/to/attune.db");
  }
  if (!named.empty()) return;
  Area shipped("shipped database", findings);
  const auto paths = runtime::shipped_database_paths();
  const auto found = std::find_if(paths.begin(), paths.end(), is_there);
  if (found == paths.end())
    shipped.note(fmt::format("none at {}: dispatch goes by your own results and the templates' defaults", paths.front().string()),
                 "install attune again");
  else
    check_file(*found, machine, " --db " + base::shell_quoted(found->string()), true, shipped);
}

}  // namespace attune::tools::doctor
