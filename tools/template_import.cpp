#include "tools/template_import.hpp"

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <memory>

#include "tools/commands.hpp"
#include "tools/output.hpp"
#include "tools/template_folder.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/importing/import.hpp"

namespace attune::tools {
namespace {

struct ImportOptions {
  importing::ImportRequest request;
  std::string folder;
  bool json_output = false;
};

void print(const importing::ImportedTemplate& made, const ImportOptions& options) {
  const auto& kernel = made.kernel;
  base::print("{}: the template {}, imported from {}: {}, {}, {} of {}\n", options.folder, kernel.name, options.request.file.string(),
              importing::counted(kernel.parameters.size(), "parameter"), importing::counted(kernel.constraints.size(), "condition"),
              importing::counted(kernel.arguments.size(), "argument"), kernel.kernel);
  print_notes(kernel.notes);
  print_next_step(options.folder);
}

int run_import(const ImportOptions& options) {
  check_template_folder(options.folder, fmt::format("importing {}", options.request.file.string()));
  const auto made = importing::import_t1(options.request);
  write_template_folder(options.folder, made);
  if (options.json_output)
    print_json(folder_json(made, options.folder), 1);
  else
    print(made, options);
  return 0;
}

}  // namespace

void add_template_import_command(CLI::App& parent, CommandContext& context) {
  auto options = std::make_shared<ImportOptions>();
  auto* command = parent.add_subcommand("import", "Make a template of a T1 file: a kernel described for Kernel Tuner, KTT or BAT");
  command->add_option("file", options->request.file, "The T1 file (JSON)")->required();
  command->add_option("--output,-o", options->folder, "Folder to write: a new one, or one that is empty")->required();
  command->add_option("--kernel-file", options->request.kernel_file, "The kernel's CUDA source (default: the file's \"KernelFile\")");
  command->add_option("--name", options->request.name, "The template's name (default: the file's \"BenchmarkName\", or the kernel)");
  command->add_flag("--json", options->json_output, "The result as JSON");
  command->footer("The kernel's file is copied as it is. What a template cannot say is told, a line each; docs/own-kernel.md explains.");
  command->callback([options, &context] { context.action = [options] { return run_import(*options); }; });
}

}  // namespace attune::tools
