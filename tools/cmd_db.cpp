// attune db: where the database is, what it holds, whether it is sound; rows between databases, and rows that go.
#include <fmt/core.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <optional>

#include "attune/error.hpp"
#include "db/database.hpp"
#include "tools/commands.hpp"
#include "tools/db_exchange.hpp"
#include "tools/db_prune.hpp"
#include "tools/output.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/terminal.hpp"

namespace attune::tools {
namespace {

using nlohmann::json;

struct DbOptions {
  std::string database;
  bool json_output = false;
};

int print_path(const DbOptions& options) {
  const std::filesystem::path path = database_path(options.database);
  std::error_code error;
  if (options.json_output) {
    print_json(json{{"path", path.string()}, {"exists", std::filesystem::exists(path, error)}}, 1);
  } else {
    // Exact for scripts; a terminal is shown what would act on it.
    const std::string text = path.string();
    base::write_standard_output((::isatty(STDOUT_FILENO) == 1 ? base::escape_line(text) : text) + "\n");
  }
  return 0;
}

int print_info(const DbOptions& options) {
  const auto database = db::Database::open(database_path(options.database), db::OpenMode::ReadOnly);
  print_notices(database);
  const db::Info info = database.info();
  if (options.json_output) {
    const json told = {{"path", info.path},         {"schema_version", info.schema_version},
                       {"bytes", info.bytes},       {"journal_mode", info.journal_mode},
                       {"devices", info.devices},   {"templates", info.templates},
                       {"problems", info.problems}, {"records", info.records},
                       {"best", info.best},         {"cubins", info.cubins},
                       {"sessions", info.sessions}};
    print_json(told, 1);
    return 0;
  }
  base::print("{}\nschema version {}, {} bytes, journal mode {}\n", info.path, info.schema_version, info.bytes, info.journal_mode);
  base::print("devices   {:>9}\ntemplates {:>9}\nproblems  {:>9}\nrecords   {:>9}\n", info.devices, info.templates, info.problems,
              info.records);
  base::print("best      {:>9}\ncubins    {:>9}\nsessions  {:>9}\n", info.best, info.cubins, info.sessions);
  return 0;
}

struct Checked {
  db::CheckReport report;
  bool opened = true;
};

/// Throws: DatabaseError when the file cannot be opened, unless the report is to tell it.
Checked checked(const std::filesystem::path& path, bool tells_all) {
  std::optional<db::Database> database;
  try {
    database.emplace(db::Database::open(path, db::OpenMode::ReadOnly));
  } catch (const DatabaseError& error) {
    if (!tells_all) throw;
    return {{false, 0, 0, {error.what()}}, false};
  }
  print_notices(*database);
  return {database->check()};
}

int check(const DbOptions& options) {
  const auto path = database_path(options.database);
  const auto [report, opened] = checked(path, options.json_output);
  if (options.json_output) {
    const json told = {
        {"path", path.string()},       {"opened", opened},           {"ok", report.ok}, {"rows_checked", report.rows_checked},
        {"bad_rows", report.bad_rows}, {"problems", report.problems}};
    print_json(told, 1);
  } else {
    for (const std::string& problem : report.problems) base::print("{}\n", problem);
    base::print("{}: {} rows checked, {} bad{}\n", path.string(), report.rows_checked, report.bad_rows,
                report.ok ? "" : "; bad rows are never used, and measuring again replaces them");
  }
  return static_cast<int>(report.ok ? ExitCode::Ok : ExitCode::Database);
}

using Work = int (*)(const DbOptions&);

void add(CLI::App& parent, CommandContext& context, const char* name, const char* summary, Work work) {
  auto options = std::make_shared<DbOptions>();
  auto* command = parent.add_subcommand(name, summary);
  command->add_option("--db", options->database, "Database file");
  command->add_flag("--json", options->json_output, "JSON on standard output");
  command->callback([options, work, &context] { context.action = [options, work] { return work(*options); }; });
}

using FileWork = int (*)(const DbWork&);

/// A command that works on files besides the database; returns their option.
CLI::Option* add(CLI::App& parent, CommandContext& context, const char* name, const char* summary, const char* footer, FileWork file_work,
                 const char* positional, const char* files) {
  auto options = std::make_shared<DbOptions>();
  auto work = std::make_shared<DbWork>();
  auto* command = parent.add_subcommand(name, summary);
  command->footer(footer);
  command->add_option("--db", options->database, "Database file");
  command->add_flag("--json", options->json_output, "The result as JSON");
  CLI::Option* option = files != nullptr ? command->add_option(positional, work->files, files) : nullptr;
  command->callback([options, work, file_work, &context] {
    context.action = [options, work, file_work] {
      work->database = database_path(options->database);
      work->json_output = options->json_output;
      return file_work(*work);
    };
  });
  return option;
}

void add_exchange_commands(CLI::App& db, CommandContext& context) {
  add(db, context, "export", "Write devices, templates, sessions, records and best rows as sorted JSON lines",
      "Equal databases give equal files. Cubins, what is being measured and running sessions stay where they are; rows that no\n"
      "import takes are left out and counted. A name that ends in .zst is compressed. The file appears whole, or not at all.",
      &export_rows, "file", "FILE to write; - or none: standard output")
      ->type_name("[FILE]")
      ->expected(0, 1);
  add(db, context, "import", "Read what `export` wrote into the database",
      "One transaction: one bad line, and nothing is stored (exit code 3 with file and line). Of two rows of one key the\n"
      "measured beats the replayed, then the newer the older; docs/database.md has the whole order.",
      &import_rows, "file", "FILE to read; - : standard input")
      ->type_name("FILE")
      ->required()
      ->expected(1);
  add(db, context, "merge", "Take the rows of other database files into this one",
      "The others are opened read-only. Their order does not matter, nor does merging them twice. Cubins do not travel. Name them in\n"
      "one command: in several, the best row of a problem may give way to one that a later file contradicts, and be missing then.\n"
      "One transaction: one row that is refused (exit code 3), and nothing is stored.",
      &merge_databases, "others", "Database files")
      ->type_name("OTHER.db...")
      ->required();
  add(db, context, "vacuum", "Give the space of removed rows back to the file system",
      "Needs as much free space again while it works. Refused while another process is writing (exit code 5).", &vacuum_database, "",
      nullptr);
}

}  // namespace

void add_db_command(CLI::App& app, CommandContext& context) {
  auto* command = app.add_subcommand(
      "db", "Tell where the database is, what it holds, and whether it is sound; move rows between databases, and remove some");
  command->require_subcommand(1);
  add(*command, context, "path", "Print the path of the database file", &print_path);
  add(*command, context, "info", "Count what the database holds", &print_info);
  add(*command, context, "check", "Check every page and row; exit code 5 when something is damaged", &check);
  add_exchange_commands(*command, context);
  add_prune_command(*command, context);
}

}  // namespace attune::tools
