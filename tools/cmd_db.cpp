// attune db: where the database is, what it holds, and whether it is sound.
#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "attune/error.hpp"
#include "db/database.hpp"
#include "tools/commands.hpp"

namespace attune::tools {
namespace {

using nlohmann::json;

struct DbOptions {
  std::string database;
  bool json_output = false;
};

void print_notices(const db::Database& database) {
  for (const std::string& notice : database.notices()) fmt::print(stderr, "attune: {}\n", notice);
}

int print_path(const DbOptions& options) {
  const std::filesystem::path path = database_path(options.database);
  std::error_code error;
  if (options.json_output) {
    fmt::print("{}\n", json{{"path", path.string()}, {"exists", std::filesystem::exists(path, error)}}.dump(1, ' ', false, json::error_handler_t::replace));
  } else {
    fmt::print("{}\n", path.string());
  }
  return 0;
}

int print_info(const DbOptions& options) {
  const auto database = db::Database::open(database_path(options.database), db::OpenMode::ReadOnly);
  print_notices(database);
  const db::Info info = database.info();
  if (options.json_output) {
    fmt::print("{}\n", json{{"path", info.path},
                            {"schema_version", info.schema_version},
                            {"bytes", info.bytes},
                            {"journal_mode", info.journal_mode},
                            {"devices", info.devices},
                            {"templates", info.templates},
                            {"problems", info.problems},
                            {"records", info.records},
                            {"best", info.best},
                            {"cubins", info.cubins},
                            {"sessions", info.sessions}}
                           .dump(1, ' ', false, json::error_handler_t::replace));
    return 0;
  }
  fmt::print("{}\nschema version {}, {} bytes, journal mode {}\n", info.path, info.schema_version, info.bytes,
             info.journal_mode);
  fmt::print("devices   {:>9}\ntemplates {:>9}\nproblems  {:>9}\nrecords   {:>9}\n", info.devices, info.templates,
             info.problems, info.records);
  fmt::print("best      {:>9}\ncubins    {:>9}\nsessions  {:>9}\n", info.best, info.cubins, info.sessions);
  return 0;
}

int check(const DbOptions& options) {
  const auto path = database_path(options.database);
  const auto database = db::Database::open(path, db::OpenMode::ReadOnly);
  print_notices(database);
  const db::CheckReport report = database.check();
  if (options.json_output) {
    fmt::print("{}\n", json{{"path", path.string()},
                            {"ok", report.ok},
                            {"rows_checked", report.rows_checked},
                            {"bad_rows", report.bad_rows},
                            {"problems", report.problems}}
                           .dump(1, ' ', false, json::error_handler_t::replace));
  } else {
    for (const std::string& problem : report.problems) fmt::print("{}\n", problem);
    fmt::print("{}: {} rows checked, {} bad{}\n", path.string(), report.rows_checked, report.bad_rows,
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

}  // namespace

void add_db_command(CLI::App& app, CommandContext& context) {
  auto* command = app.add_subcommand("db", "Tell where the database is, what it holds, and whether it is sound");
  command->require_subcommand(1);
  add(*command, context, "path", "Print the path of the database file", &print_path);
  add(*command, context, "info", "Count what the database holds", &print_info);
  add(*command, context, "check", "Check every page and row; exit code 5 when something is damaged", &check);
}

}  // namespace attune::tools
