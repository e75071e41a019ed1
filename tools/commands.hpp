#pragma once
#include <filesystem>
#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace attune::tools {

/// Shared by all subcommands. Each `add_*_command` registers one subcommand whose CLI11 callback only stores what to
/// do in `action`; main runs it afterwards, so that parsing errors and failures of the work stay apart.
/// `action` returns the process exit code (attune/error.hpp); attune::Error thrown from it becomes a one-paragraph
/// message on standard error and its exit_code().
struct CommandContext {
  std::function<int()> action;
  std::filesystem::path executable;  ///< this program; workers are started from it
};

void add_tune_command(CLI::App& app, CommandContext& context);
void add_ladder_command(CLI::App& app, CommandContext& context);
void add_show_command(CLI::App& app, CommandContext& context);
void add_explain_command(CLI::App& app, CommandContext& context);
void add_devices_command(CLI::App& app, CommandContext& context);
void add_doctor_command(CLI::App& app, CommandContext& context);
void add_record_command(CLI::App& app, CommandContext& context);
void add_renew_command(CLI::App& app, CommandContext& context);
void add_template_command(CLI::App& app, CommandContext& context);
void add_report_command(CLI::App& app, CommandContext& context);
void add_db_command(CLI::App& app, CommandContext& context);
void add_fleet_command(CLI::App& app, CommandContext& context);
void add_layer_command(CLI::App& app, CommandContext& context);
void add_cache_command(CLI::App& app, CommandContext& context);
void add_simulate_command(CLI::App& app, CommandContext& context);
void add_source_command(CLI::App& app, CommandContext& context);
void add_compile_command(CLI::App& app, CommandContext& context);
void add_export_command(CLI::App& app, CommandContext& context);
/// completion and manual. Requires: every other command is in `app`, or will be.
void add_shell_commands(CLI::App& app, CommandContext& context);

/// `--db` text, or the default rules (db::default_path).
[[nodiscard]] std::filesystem::path database_path(const std::string& option);

/// For a command that writes into it: "failed <doing> database ...". File permissions may allow what would change results for every program
/// of the machine, and what the next installation would undo. Throws: DatabaseError when it is the database that ships with attune.
void refuse_shipped(const std::filesystem::path& path, const char* doing);

}  // namespace attune::tools
