#include "tools/db_exchange.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "attune/error.hpp"
#include "db/exchange.hpp"
#include "tools/stop_signals.hpp"
#include "tuner/base/line_file.hpp"
#include "tuner/session/exchange_rules.hpp"

namespace attune::tools {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

/// One line on a terminal, rewritten in place; silent elsewhere. Looks for Ctrl-C as often as it is called.
class RowProgress {
 public:
  RowProgress(const char* doing, const char* remains) : doing_(doing), remains_(remains), shown_(::isatty(STDERR_FILENO) == 1) {}
  RowProgress(const RowProgress&) = delete;
  RowProgress& operator=(const RowProgress&) = delete;
  ~RowProgress() {
    if (width_ > 0) std::fputs(fmt::format("\r{:<{}}\r", "", width_).c_str(), stderr);
  }

  void operator()(std::uint64_t rows) {
    if (stop_asked()) throw Error(fmt::format("interrupted while {}; {}", doing_, remains_), ExitCode::Interrupted);
    if (!shown_ || Clock::now() - last_ < 200ms) return;
    last_ = Clock::now();
    const std::string line = fmt::format("{}: {} rows", doing_, rows);
    fmt::print(stderr, "\r{:<{}}", line, width_);
    std::fflush(stderr);
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
  return {{"devices", rows.devices}, {"templates", rows.templates}, {"sessions", rows.sessions}, {"records", rows.records}, {"best", rows.best}};
}

json to_json(const db::LeftOut& left) {
  return {{"damaged", left.damaged}, {"unsourced", left.unsourced}, {"orphaned", left.orphaned}};
}

std::string words(const db::RowCounts& rows) {
  return fmt::format("{} devices, {} templates, {} sessions, {} records, {} best", rows.devices, rows.templates, rows.sessions,
                     rows.records, rows.best);
}

void print_notices(const db::Database& database) {
  for (const std::string& notice : database.notices()) fmt::print(stderr, "attune: {}\n", notice);
}

void print_left_out(const db::LeftOut& left) {
  std::vector<std::string> parts;
  if (left.damaged > 0) parts.push_back(fmt::format("{} damaged rows", left.damaged));
  if (left.unsourced > 0) {
    parts.push_back(fmt::format("{} templates whose sources are not stored whole (tune them again to store them)", left.unsourced));
  }
  if (left.orphaned > 0) parts.push_back(fmt::format("{} rows of a device or template that is left out or missing", left.orphaned));
  if (!parts.empty()) fmt::print(stderr, "attune: left out: {}\n", fmt::join(parts, ", "));
}

/// An export must not take the place of a database: the names differ by a suffix only.
void refuse_to_replace_a_database(const std::string& file) {
  constexpr std::string_view kMagic = "SQLite format 3";
  std::ifstream existing(file, std::ios::binary);
  std::string start(kMagic.size(), '\0');
  existing.read(start.data(), static_cast<std::streamsize>(start.size()));
  if (existing && start == kMagic) throw UsageError(fmt::format("failed exporting to {}: it is a database; name another file", file));
}

/// The result on standard output, or on standard error when the rows themselves go to the former.
void print_result(const DbWork& work, bool rows_on_stdout, const json& object, const std::string& text) {
  std::FILE* const out = rows_on_stdout ? stderr : stdout;
  fmt::print(out, "{}\n", work.json_output ? object.dump(1, ' ', false, json::error_handler_t::replace) : text);
}

}  // namespace

int export_rows(const DbWork& work) {
  const std::string file = work.files.empty() ? "-" : work.files.front();
  if (file != "-") refuse_to_replace_a_database(file);
  const auto database = db::Database::open(work.database, db::OpenMode::ReadOnly);
  print_notices(database);
  stop_on_signals();
  base::LineWriter writer(file);
  db::ExportReport report;
  {
    RowProgress progress("exporting", file == "-" ? "the output ends without its last line" : "no file was written");
    report = db::export_lines(database, [&](const std::string& line) { writer.write(line); }, std::ref(progress));
    writer.commit();
  }
  print_left_out(report.left_out);
  print_result(work, file == "-", {{"file", file}, {"rows", to_json(report.rows)}, {"left_out", to_json(report.left_out)}},
               fmt::format("{}: {}", file, words(report.rows)));
  return 0;
}

int import_rows(const DbWork& work) {
  auto database = db::Database::open(work.database, db::OpenMode::ReadWrite);
  print_notices(database);
  stop_on_signals();
  session::ExchangeRules rules;
  db::ImportReport report;
  {
    RowProgress progress("importing", "nothing was stored");
    report = db::import_file(database, work.files.front(), rules, std::ref(progress));
  }
  print_result(work, false,
               {{"file", work.files.front()}, {"database", database.path().string()}, {"rows", to_json(report.rows)}, {"stored", to_json(report.stored)}},
               fmt::format("{}: read {}\n{}: stored {}; the others were there, as they are or newer", work.files.front(), words(report.rows),
                           database.path().string(), words(report.stored)));
  return 0;
}

int merge_databases(const DbWork& work) {
  auto database = db::Database::open(work.database, db::OpenMode::ReadWrite);
  print_notices(database);
  stop_on_signals();
  session::ExchangeRules rules;
  db::ImportReport report;
  {
    RowProgress progress("merging", "nothing was stored");
    const std::vector<std::filesystem::path> files(work.files.begin(), work.files.end());
    report = db::merge_files(database, files, rules, std::ref(progress));
  }
  print_left_out(report.left_out);
  print_result(work, false,
               {{"files", work.files}, {"database", database.path().string()}, {"rows", to_json(report.rows)}, {"stored", to_json(report.stored)},
                {"left_out", to_json(report.left_out)}},
               fmt::format("{}: read {}\n{}: stored {}; the others were there, as they are or newer", fmt::join(work.files, ", "), words(report.rows),
                           database.path().string(), words(report.stored)));
  return 0;
}

int vacuum_database(const DbWork& work) {
  // Opening for writing would create it.
  if (std::error_code error; !std::filesystem::exists(work.database, error)) {
    throw DatabaseError(work.database.string(), fmt::format("failed vacuuming database '{}': there is no such file", work.database.string()));
  }
  auto database = db::Database::open(work.database, db::OpenMode::ReadWrite);
  print_notices(database);
  stop_on_signals();
  const db::VacuumReport report = database.vacuum([] { return !stop_asked(); });
  print_result(work, false, {{"path", database.path().string()}, {"bytes_before", report.bytes_before}, {"bytes_after", report.bytes_after}},
               fmt::format("{}: {} bytes before, {} after", database.path().string(), report.bytes_before, report.bytes_after));
  return 0;
}

}  // namespace attune::tools
