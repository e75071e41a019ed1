// The `attune` command. Workers are this same executable with a private subcommand.
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <string_view>
#include <system_error>

#include "attune/error.hpp"
#include "attune_build/content_hash.hpp"
#include "attune_build/version.hpp"
#include "tools/commands.hpp"
#include "tools/tuning_backend.hpp"
#include "tuner/base/files.hpp"
#include "tuner/compile/compiler.hpp"
#include "tuner/measure/gpu_executor.hpp"
#include "tuner/session/online_process.hpp"

namespace {

using namespace attune;

constexpr const char* kFooter =
    "Exit codes: 0 ok, 1 internal error, 2 wrong arguments, 3 malformed template or file, 4 no driver, device, NVRTC or\n"
    "memory, 5 database, 6 nothing valid (empty space or no configuration worked), 130 interrupted (what was measured\n"
    "is stored; a db command stores nothing).\n"
    "Environment: ATTUNE_DB (database file), ATTUNE_TEMPLATES (folders of templates), ATTUNE_NVRTC (library file).";

int run_command(int argc, char** argv) {
  CLI::App app{"attune: tunes CUDA kernels and remembers", "attune"};
  app.set_version_flag("--version", std::string("attune ") + build::kVersion + " (content " + build::kContentHash + ")");
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
  tools::add_template_command(app, context);
  tools::add_devices_command(app, context);
  tools::add_db_command(app, context);
  tools::add_layer_command(app, context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? static_cast<int>(ExitCode::Ok) : static_cast<int>(ExitCode::Usage);
  }
  const int code = context.action();
  // A full disk or a closed pipe behind standard output must not look like success.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) throw EnvironmentError("failed writing standard output: is its disk full or its reader gone?");
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  std::signal(SIGXFSZ, SIG_IGN);  // a file size limit is an error of the write, with a message, not a silent death
  try {
    if (first == "worker-compile") return compile::compile_worker_main();
    if (first == "worker-gpu") return measure::gpu_worker_main();
    if (first == "worker-tune") return session::device_process_main(tools::live_hooks(base::own_executable()));
    if (first == "worker-online") return session::online_process_main(tools::live_hooks(base::own_executable()));
    return run_command(argc, argv);
  } catch (const Error& error) {
    fmt::print(stderr, "attune: {}\n", error.what());
    return static_cast<int>(error.exit_code());
  } catch (const std::system_error& error) {  // fmt's way to tell that an output cannot be written
    fmt::print(stderr, "attune: failed writing: {}\n", error.what());
    return static_cast<int>(ExitCode::Environment);
  } catch (const std::exception& error) {
    fmt::print(stderr, "attune: internal error: {}\n", error.what());
    return static_cast<int>(ExitCode::Internal);
  }
}
