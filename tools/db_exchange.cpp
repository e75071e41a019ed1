#include "tools/db_exchange.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>

#include "attune/error.hpp"
#include "db/exchange.hpp"
#include "tools/output.hpp"
#include "tools/stop_signals.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/line_file.hpp"
#include "tuner/session/exchange_rules.hpp"

namespace attune::tools {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

/// What every database begins with, its last byte included.
constexpr std::string_view kMagic{"SQLite format 3", 16};

/// One line on a terminal, rewritten in place; silent elsewhere. Looks for Ctrl-C as often as it is called.
class RowProgress {
 public:
  RowProgress(const char* doing, const char* remains) : doing_(doing), remains_(remains), shown_(::isatty(STDERR_FILENO) == 1) {}
  RowProgress(const RowProgress&) = delete;
  RowProgress& operator=(const RowProgress&) = delete;
  ~RowProgress() { clear(); }

  void clear() {
    if (width_ > 0) std::fputs(fmt::format("\r{:<{}}\r", "", width_).c_str(), stderr);
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
  return {{"damaged", left.damaged}, {"unsourced", left.unsourced}, {"orphaned", left.orphaned}, {"unverified", left.unverified},
          {"contradicted", left.contradicted}};
}

std::string words(const db::RowCounts& rows) {
  return fmt::format("{} devices, {} templates, {} sessions, {} records, {} best", rows.devices, rows.templates, rows.sessions,
                     rows.records, rows.best);
}

void print_left_out(const db::LeftOut& left) {
  std::vector<std::string> parts;
  if (left.damaged > 0) parts.push_back(fmt::format("{} damaged rows", left.damaged));
  if (left.unsourced > 0) {
    parts.push_back(fmt::format("{} templates whose sources are not stored whole (tune them again to store them)", left.unsourced));
  }
  if (left.orphaned > 0) parts.push_back(fmt::format("{} rows of a device or template that is left out or missing", left.orphaned));
  if (left.unverified > 0) parts.push_back(fmt::format("{} best rows without a verified record of their configuration (tune them again)", left.unverified));
  if (left.contradicted > 0) parts.push_back(fmt::format("{} best rows of configurations that fail by a later record", left.contradicted));
  if (!parts.empty()) fmt::print(stderr, "attune: left out: {}\n", fmt::join(parts, ", "));
}

/// The first bytes of a regular file, fewer when it is shorter; nothing of a pipe or device, which would be waited for.
std::string start_of(const fs::path& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return {};
  std::ifstream stream(file, std::ios::binary);
  std::string start(kMagic.size(), '\0');
  stream.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(stream.gcount()));
  return start;
}

/// One spelling per file, existing or not. Links in the folders are followed.
fs::path one_spelling_of(const fs::path& file) {
  std::error_code error;
  const fs::path whole = fs::absolute(file, error);
  const fs::path name = fs::weakly_canonical(whole, error);
  return error ? whole.lexically_normal() : name;
}

/// An export must not take the place of a database, of one's write-ahead log, or of a file that the exported database needs
/// beside it or will make there: the names differ by a suffix only.
void refuse_to_replace_a_database(const fs::path& file, const fs::path& database) {
  constexpr std::string_view kLogs[] = {"\x37\x7f\x06\x82", "\x37\x7f\x06\x83"};  // checksums of either byte order
  const auto refuse = [&](const char* what) {
    throw UsageError(fmt::format("failed exporting to {}: it is {}; name another file", file.string(), what));
  };
  const std::string start = start_of(file);
  if (start == kMagic) refuse("a database");
  for (const std::string_view log : kLogs) {
    if (start.starts_with(log)) refuse("the write-ahead log of a database");
  }
  std::error_code error;
  const fs::path link = one_spelling_of(fs::absolute(file, error).parent_path()) / file.filename();
  for (const char* suffix : {"", "-wal", "-shm", "-journal", ".lock", ".suspect"}) {
    const fs::path taken = one_spelling_of(database).string() + suffix;
    if (one_spelling_of(file) == taken || link == taken) refuse("a name that the exported database uses itself");
  }
}

/// A file that was named by mistake is neither set aside nor replaced; one whose pages are damaged is (db/database_file.hpp).
void refuse_what_is_no_database(const DbWork& work, const char* doing) {
  if (work.chosen == DbChoice::Default) return;
  const std::string start = start_of(work.database);
  if (start.empty() || start == kMagic) return;
  throw DatabaseError(work.database.string(), fmt::format("failed {} database '{}': it is no database (it does not begin as SQLite's files do) and stays "
                                                          "as it is; name another file with --db",
                                                          doing, work.database.string()));
}

/// The result on standard output, or on standard error when the rows themselves go to the former.
void print_result(const DbWork& work, bool rows_on_stdout, const json& object, const std::string& text) {
  std::FILE* const out = rows_on_stdout ? stderr : stdout;
  fmt::print(out, "{}\n", work.json_output ? base::dump_json_replacing(object, 1) : text);
}

}  // namespace

int export_rows(const DbWork& work) {
  const std::string file = work.files.empty() ? "-" : work.files.front();
  if (file != "-") refuse_to_replace_a_database(file, work.database);
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
  refuse_what_is_no_database(work, "importing into");
  stop_on_signals();
  RowProgress progress("importing", "nothing was stored");
  // The input first: a wrong name creates no database, and nobody waits for a lock while a pipe is read.
  base::LineReader lines(work.files.front(), [&] { progress.throw_when_stopped(); });
  auto database = db::Database::open(work.database, db::OpenMode::ReadWrite);
  print_notices(database);
  session::ExchangeRules rules;
  const db::ImportReport report = db::import_lines(database, lines, work.files.front(), rules, std::ref(progress));
  progress.clear();
  print_result(work, false,
               {{"file", work.files.front()}, {"database", database.path().string()}, {"rows", to_json(report.rows)}, {"stored", to_json(report.stored)}},
               fmt::format("{}: read {}\n{}: stored {}; the others were there, as they are or newer", work.files.front(), words(report.rows),
                           database.path().string(), words(report.stored)));
  return 0;
}

int merge_databases(const DbWork& work) {
  refuse_what_is_no_database(work, "merging into");
  stop_on_signals();
  RowProgress progress("merging", "nothing was stored");
  const std::vector<db::Database> others = db::open_for_merging(work.database, {work.files.begin(), work.files.end()});
  auto database = db::Database::open(work.database, db::OpenMode::ReadWrite);
  print_notices(database);
  session::ExchangeRules rules;
  const db::ImportReport report = db::merge_opened(database, others, rules, std::ref(progress));
  progress.clear();
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
  refuse_what_is_no_database(work, "vacuuming");
  auto database = db::Database::open(work.database, db::OpenMode::ReadWrite);
  print_notices(database);
  stop_on_signals();
  const db::VacuumReport report = database.vacuum([] { return !stop_asked(); });
  print_result(work, false, {{"path", database.path().string()}, {"bytes_before", report.bytes_before}, {"bytes_after", report.bytes_after}},
               fmt::format("{}: {} bytes before, {} after", database.path().string(), report.bytes_before, report.bytes_after));
  return 0;
}

}  // namespace attune::tools
