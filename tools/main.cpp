// The `attune` command. Workers are this same executable with a private subcommand.
#include <CLI/CLI.hpp>
#include <csignal>
#include <exception>
#include <new>
#include <sstream>
#include <string_view>
#include <system_error>

#include "attune/error.hpp"
#include "db/database.hpp"
#include "tools/commands.hpp"
#include "tools/file_values.hpp"
#include "tools/tuning_backend.hpp"
#include "tools/unknown_command.hpp"
#include "tools/version_text.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/standard_descriptors.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/compile/compiler.hpp"
#include "tuner/session/fleet/online_process.hpp"
#include "tuner/worker/gpu_worker.hpp"

namespace {

using namespace attune;

constexpr const char* kFooter =
    "Exit codes: 0 ok, 1 internal error, 2 wrong arguments, 3 malformed template or file, 4 no driver, device, NVRTC or\n"
    "memory, or an output that cannot be written, 5 database (and SQLite without memory), 6 nothing valid (empty space or\n"
    "no configuration worked), 130 interrupted (what was measured is stored; a db command stores nothing).\n"
    "Environment: ATTUNE_DB (database file), ATTUNE_TEMPLATES (folders of templates), ATTUNE_NVRTC (library file).";

int run_command(int argc, char** argv) {
  CLI::App app{"attune: tunes CUDA kernels and remembers", "attune"};
  app.set_version_flag("--version", &tools::version_text);
  app.require_subcommand(1);
  app.footer(kFooter);
  tools::CommandContext context;
  context.executable = base::own_executable();
  tools::add_tune_command(app, context);
  tools::add_ladder_command(app, context);
  tools::add_show_command(app, context);
  tools::add_explain_command(app, context);
  tools::add_report_command(app, context);
  tools::add_record_command(app, context);
  tools::add_renew_command(app, context);
  tools::add_template_command(app, context);
  tools::add_source_command(app, context);
  tools::add_compile_command(app, context);
  tools::add_export_command(app, context);
  tools::add_devices_command(app, context);
  tools::add_doctor_command(app, context);
  tools::add_db_command(app, context);
  tools::add_fleet_command(app, context);
  tools::add_cache_command(app, context);
  tools::add_layer_command(app, context);
  tools::add_simulate_command(app, context);
  tools::add_shell_commands(app, context);
  tools::refuse_empty_files(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out, err;
    const bool asked = app.exit(error, out, err) == 0;  // --help, --version
    if (const std::string unknown = tools::unknown_command(app, argc, argv); !asked && !unknown.empty()) {
      base::tell_message(unknown);
      return static_cast<int>(ExitCode::Usage);
    }
    base::print("{}", base::Lines{out.str()});
    base::tell("{}", base::Lines{err.str()});
    base::flush_standard_output();
    return static_cast<int>(asked ? ExitCode::Ok : ExitCode::Usage);
  }
  const int code = context.action();
  // A full disk or a closed pipe behind standard output must not look like success.
  base::flush_standard_output();
  return code;
}

/// What is told must not decide over the exit code: a message that cannot be written is lost, and that is all.
int told(const char* what, const char* why, ExitCode code) {
  base::tell_message(std::string(what) + why);
  return static_cast<int>(code);
}

}  // namespace

int main(int argc, char** argv) {
  base::occupy_standard_descriptors();  // before any file is opened
  const std::string_view first = argc > 1 ? argv[1] : "";
  // A file size limit and a reader that is gone are errors of the write, with a message, not a silent death.
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  db::without_memory_statistics();
  try {
    if (first == "worker-compile") return compile::compile_worker_main();
    if (first == "worker-gpu") return worker::gpu_worker_main();
    if (first == "worker-tune") return session::device_process_main(tools::live_hooks(base::own_executable()));
    if (first == "worker-online") return session::online_process_main(tools::live_hooks(base::own_executable()));
    return run_command(argc, argv);
  } catch (const Error& error) {
    return told("", error.what(), error.exit_code());
  } catch (const std::system_error& error) {  // the file system or a thread's refusal
    return told("failed: ", error.what(), ExitCode::Environment);
  } catch (const std::bad_alloc&) {
    return told("failed: ", "out of memory; raise the limit (ulimit -v), or end other programs", ExitCode::Environment);
  } catch (const std::exception& error) {
    return told("internal error: ", error.what(), ExitCode::Internal);
  }
}
