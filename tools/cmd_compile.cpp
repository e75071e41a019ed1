// attune compile: one translation unit with NVRTC, as tuning compiles it. What `attune source` prints may be changed and compiled again.
#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <iostream>
#include <iterator>
#include <memory>

#include "attune/error.hpp"
#include "tools/commands.hpp"
#include "tools/compiled_kernels.hpp"
#include "tools/output.hpp"
#include "tools/output_target.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/compile/compile_pool.hpp"
#include "tuner/spec/compiler_options.hpp"
#include "tuner/spec/device_info.hpp"

namespace attune::tools {
namespace {

struct CompileOptions {
  std::string file;
  std::string architecture = "sm_90";
  std::vector<std::string> options;
  std::string output;
  bool json_output = false;
};

compile::CompileRequest request_of(const CompileOptions& options) {
  for (const auto& option : options.options) {
    if (const std::string why = spec::why_no_option(option); !why.empty())
      throw UsageError(fmt::format("the option {} cannot be given: {}", option, why));
  }
  const bool standard_input = options.file == "-";
  std::error_code error;
  if (!standard_input && !std::filesystem::exists(options.file, error))
    throw UsageError(fmt::format("failed reading {}: there is no such file", options.file));
  const auto is = std::filesystem::symlink_status(options.file, error).type();  // /dev/stdin and <(...) are links to pipes
  if (!standard_input && is != std::filesystem::file_type::regular && is != std::filesystem::file_type::symlink)
    throw UsageError(fmt::format("failed reading {}: it is no file; - reads standard input", options.file));
  return {standard_input ? std::string(std::istreambuf_iterator<char>(std::cin), {}) : base::read_file(options.file),
          standard_input ? "standard_input.cu" : std::filesystem::path(options.file).filename().string(), options.architecture,
          options.options};
}

int compile_one(const CompileOptions& options, const CommandContext& context) {
  static_cast<void>(spec::DeviceInfo::of_architecture(options.architecture));  // NVRTC's own message does not list what there is
  if (!options.output.empty()) check_output_target(options.output, database_path(""));
  compile::CompilePool::Options pool_options;
  pool_options.worker = context.executable;
  pool_options.workers = 1;
  compile::CompilePool pool(pool_options);
  const auto compiled = pool.compile_now(request_of(options));
  const bool worked = compiled.status == compile::CompileStatus::Ok;
  if (worked && !options.output.empty()) write_output_target(options.output, compiled.cubin);
  if (options.json_output) {
    print_json({{"compiles", worked}, {"key", compiled.key}, {"kernels", describe_kernels(compiled)}, {"log", compiled.log}}, 1);
  } else {
    base::tell("{}", base::Lines{compiled.log});
    if (options.output != "-") print_kernels(compiled);
  }
  return static_cast<int>(worked ? ExitCode::Ok : ExitCode::NothingValid);
}

}  // namespace

void add_compile_command(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<CompileOptions>();
  auto* command =
      app.add_subcommand("compile", "Compile a file with NVRTC as tuning does, e.g. one that attune source printed (no GPU needed)");
  command->add_option("file", options->file, "CUDA source; -: standard input")->required();
  command->add_option("--arch", options->architecture, "Architecture to compile for")->capture_default_str();
  command->add_option("--option", options->options, "A further option of NVRTC, one that a template may have: --option=--use_fast_math")
      ->allow_extra_args(false);
  command->add_option("--output,-o", options->output, "Cubin file to write");
  command->add_flag("--json", options->json_output, "JSON on standard output");
  command->callback([options, &context] { context.action = [options, &context] { return compile_one(*options, context); }; });
}

}  // namespace attune::tools
