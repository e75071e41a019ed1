#include "tools/db_exchange.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>

#include "attune/error.hpp"
#include "db/exchange.hpp"
#include "tools/commands.hpp"
#include "tools/output.hpp"
#include "tools/output_target.hpp"
#include "tools/stop_signals.hpp"
#include "tuner/base/errno_text.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/line_file.hpp"
#include "tuner/base/output_file.hpp"
#include "tuner/base/standard_descriptors.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/session/tune/exchange_rules.hpp"

namespace attune::tools {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

/// One line on a terminal, rewritten in place; silent elsewhere. Looks for Ctrl-C as often as it is called.
class RowProgress {
 public:
  RowProgress(const char* doing, const char* remains) : doing_(doing), remains_(remains), shown_(::isatty(STDERR_FILENO) == 1) {}
  RowProgress(const RowProgress&) = delete;
  RowProgress& operator=(const RowProgress&) = delete;
  ~RowProgress() { clear(); }

  void clear() {
    if (width_ > 0) base::write_standard_error(fmt::format("\r{:<{}}\r", "", width_));
    width_ = 0;
  }

  void throw_when_stopped() const {
    if (stop_asked()) throw Error(fmt::format("interrupted while {}; {}", doing_, remains_), ExitCode::Interrupted);
  }

  void operator()(std::uint64_t rows) {
    throw_when_stopped();
    if (!shown_ || Clock::now() - last_ < 200ms) return;
    last_ = Clock::now();
    const std::string line = fmt::format("{}: {} rows", doing_, rows);
    base::write_standard_error(fmt::format("\r{:<{}}", line, width_));
    width_ = line.size();
  }

 private:
  using Clock = std::chrono::steady_clock;
  const char* doing_;
  const char* remains_;
  bool shown_;
  Clock::time_point last_ = Clock::now();
  std::size_t width_ = 0;
};

json to_json(const db::RowCounts& rows) {
  return {{"devices", rows.devices},
          {"templates", rows.templates},
          {"sessions", rows.sessions},
          {"records", rows.records},
          {"best", rows.best}};
}

json to_json(const db::LeftOut& left) {
  return {{"damaged", left.damaged},       {"unsourced", left.unsourced},       {"orphaned", left.orphaned},
          {"unverified", left.unverified}, {"contradicted", left.contradicted}, {"refused", left.refused}};
}

std::string words(const db::RowCounts& rows) {
  return fmt::format("{} devices, {} templates, {} sessions, {} records, {} best", rows.devices, rows.templates, rows.sessions,
                     rows.records, rows.best);
}

/// `first_refusal`: of an export.
void print_left_out(const db::LeftOut& left, const std::string& first_refusal = {}) {
  std::vector<std::string> parts;
  if (left.damaged > 0) parts.push_back(fmt::format("{} damaged rows", left.damaged));
  if (left.unsourced > 0) {
    parts.push_back(fmt::format("{} templates whose sources are not stored whole (tune them again to store them)", left.unsourced));
  }
  if (left.orphaned > 0) parts.push_back(fmt::format("{} rows of a device or template that is left out or missing", left.orphaned));
  if (left.unverified > 0)
    parts.push_back(fmt::format(
        "{} best rows without a verified record of their configuration (tune them again; of a template without a reference they stay where they are)",
        left.unverified));
  if (left.contradicted > 0) parts.push_back(fmt::format("{} best rows of configurations that fail by a later record", left.contradicted));
  if (left.refused > 0) {
    constexpr std::size_t kMostShownBytes = 400;  // a row may name a configuration of megabytes
    const bool fits = first_refusal.size() <= kMostShownBytes;
    parts.push_back(fmt::format("{} rows that no import takes (the first: {}{})", left.refused, first_refusal.substr(0, kMostShownBytes),
                                fits ? "" : "..."));
  }
  if (!parts.empty()) base::tell("attune: left out: {}\n", fmt::join(parts, ", "));
}

/// Opens them all. SQLite says only that a file cannot be opened when too many are open already.
std::vector<db::Database> open_others(const DbWork& work) {
  constexpr std::uint64_t kFilesOfADatabase = 5, kFilesBeside = 32;
  const std::uint64_t wanted = work.files.size() * kFilesOfADatabase + kFilesBeside;
  const bool enough = base::may_open(wanted);
  try {
    return db::open_for_merging(work.database, {work.files.begin(), work.files.end()}, [] { return !stop_asked(); });
  } catch (const DatabaseError& error) {
    const bool unopened = std::string_view(error.what()).find("CANTOPEN") != std::string_view::npos;
    if (enough || !unopened) throw;
    throw EnvironmentError(fmt::format("failed merging {} databases: they need up to {} files open at once{}; or merge fewer at a time",
                                       work.files.size(), wanted, base::errno_remedy(EMFILE)));
  }
}

/// The result on standard output, or on standard error when the rows themselves go to the former.
void print_result(const DbWork& work, bool rows_on_stdout, const json& object, const std::string& text) {
  if (rows_on_stdout)
    base::tell("{}\n", base::Lines{work.json_output ? json_text(object, 1) : text});
  else if (work.json_output)
    print_json(object, 1);
  else
    base::print("{}\n", base::Lines{text});
}

}  // namespace

int export_rows(const DbWork& work) {
  stop_on_signals();
  const std::string file = work.files.empty() ? "-" : work.files.front();
  check_output_target(file, work.database, "exporting to");
  const auto database = db::Database::open(work.database, db::OpenMode::ReadOnly, [] { return !stop_asked(); });
  print_notices(database);
  base::LineWriter writer(file, throw_when_output_is_stopped);
  const bool on_standard_output = base::is_standard_output(file);
  session::ExchangeRules rules;
  const bool on_terminal = on_standard_output && ::isatty(STDOUT_FILENO) == 1 && !file.ends_with(".zst");
  db::ExportReport report;
  {
    RowProgress progress("exporting", on_standard_output ? "the output ends without its last line" : "no file was written");
    report = db::export_lines(
        database, [&](const std::string& line) { writer.write(on_terminal ? base::escape_json(line) : line); }, rules, std::ref(progress));
    writer.commit();
  }
  print_left_out(report.left_out, report.first_refusal);
  print_result(work, on_standard_output, {{"file", file}, {"rows", to_json(report.rows)}, {"left_out", to_json(report.left_out)}},
               fmt::format("{}: {}", file, words(report.rows)));
  return 0;
}

int import_rows(const DbWork& work) {
  refuse_shipped(work.database, "importing into");
  stop_on_signals();
  RowProgress progress("importing", "nothing was stored");
  // The input first: a wrong name creates no database, and nobody waits for a lock while a pipe is read.
  base::LineReader lines(work.files.front(), [&] { progress.throw_when_stopped(); });
  auto database = db::Database::open(work.database, db::OpenMode::ReadWrite, [] { return !stop_asked(); });
  print_notices(database);
  session::ExchangeRules rules;
  const db::ImportReport report = db::import_lines(database, lines, work.files.front(), rules, std::ref(progress));
  progress.clear();
  print_left_out(report.left_out);
  print_result(work, false,
               {{"file", work.files.front()},
                {"database", database.path().string()},
                {"rows", to_json(report.rows)},
                {"stored", to_json(report.stored)},
                {"left_out", to_json(report.left_out)}},
               fmt::format("{}: read {}\n{}: stored {}; the others were there, as they are or newer", work.files.front(),
                           words(report.rows), database.path().string(), words(report.stored)));
  return 0;
}

int merge_databases(const DbWork& work) {
  refuse_shipped(work.database, "merging into");
  stop_on_signals();
  RowProgress progress("merging", "nothing was stored");
  const std::vector<db::Database> others = open_others(work);
  auto database = db::Database::open(work.database, db::OpenMode::ReadWrite, [] { return !stop_asked(); });
  print_notices(database);
  session::ExchangeRules rules;
  const db::ImportReport report = db::merge_opened(database, others, rules, std::ref(progress));
  progress.clear();
  print_left_out(report.left_out);
  print_result(work, false,
               {{"files", work.files},
                {"database", database.path().string()},
                {"rows", to_json(report.rows)},
                {"stored", to_json(report.stored)},
                {"left_out", to_json(report.left_out)}},
               fmt::format("{}: read {}\n{}: stored {}; the others were there, as they are or newer", fmt::join(work.files, ", "),
                           words(report.rows), database.path().string(), words(report.stored)));
  return 0;
}

int vacuum_database(const DbWork& work) {
  refuse_shipped(work.database, "vacuuming");
  stop_on_signals();
  // Opening for writing would create it.
  if (std::error_code error; !std::filesystem::exists(work.database, error)) {
    throw DatabaseError(work.database.string(),
                        fmt::format("failed vacuuming database '{}': there is no such file", work.database.string()));
  }
  auto database = db::Database::open(work.database, db::OpenMode::ReadWrite, [] { return !stop_asked(); });
  print_notices(database);
  const db::VacuumReport report = database.vacuum([] { return !stop_asked(); });
  print_result(work, false,
               {{"path", database.path().string()}, {"bytes_before", report.bytes_before}, {"bytes_after", report.bytes_after}},
               fmt::format("{}: {} bytes before, {} after", database.path().string(), report.bytes_before, report.bytes_after));
  return 0;
}

}  // namespace attune::tools
