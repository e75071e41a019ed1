// attune completion, attune manual: what shells and man(1) want to know of the command line, made of the command line itself.
#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>

#include "attune/error.hpp"
#include "attune_build/version.hpp"
#include "tools/commands.hpp"
#include "tools/output_target.hpp"
#include "tools/shell/completion.hpp"
#include "tools/shell/manual.hpp"
#include "tuner/base/terminal.hpp"

namespace attune::tools {
namespace {

int complete(const CLI::App& app, const std::string& shell) {
  const auto tree = shell::command_tree(app);
  if (shell == "bash")
    base::write_standard_output(shell::bash_completion(tree));
  else if (shell == "zsh")
    base::write_standard_output(shell::zsh_completion(tree));
  else
    base::write_standard_output(shell::fish_completion(tree));
  return 0;
}

int write_manual(const CLI::App& app, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw EnvironmentError(fmt::format("failed creating {}: {}; name another folder with --output", folder, error.message()));
  for (const auto& [name, page] : shell::manual_pages(shell::command_tree(app), build::kVersion))
    write_output_target((std::filesystem::path(folder) / name).string(), page);
  return 0;
}

}  // namespace

void add_shell_commands(CLI::App& app, CommandContext& context) {
  auto shell = std::make_shared<std::string>();
  auto* completion = app.add_subcommand("completion", "Print a script that completes this command line in a shell");
  completion->footer(
      "bash: source <(attune completion bash)      zsh: attune completion zsh > a folder of $fpath/_attune\nfish: attune completion fish | source");
  completion->add_option("shell", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion->callback([shell, &app, &context] { context.action = [shell, &app] { return complete(app, *shell); }; });
  auto folder = std::make_shared<std::string>();
  auto* manual = app.add_subcommand("manual", "Write a manual page of every command");
  manual->footer("man ./FOLDER/attune-tune.1 shows one.");
  manual->add_option("--output,-o", *folder, "Folder, created where it is not there")->required();
  manual->callback([folder, &app, &context] { context.action = [folder, &app] { return write_manual(app, *folder); }; });
}

}  // namespace attune::tools
