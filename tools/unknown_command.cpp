#include "tools/unknown_command.hpp"

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "tuner/spec/failure.hpp"

namespace attune::tools {

std::string unknown_command(CLI::App& app, int argc, char** argv) {
  CLI::App* at = &app;
  std::string named = app.get_name();
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    std::vector<std::string> known;
    CLI::App* next = nullptr;
    for (CLI::App* command : at->get_subcommands([](CLI::App*) { return true; })) {
      known.push_back(command->get_name());
      if (command->get_name() == word) next = command;
    }
    if (known.empty() || word.starts_with('-')) return {};
    if (next == nullptr)
      return fmt::format("{} no command '{}'{}", i == 1 ? "there is" : fmt::format("'{}' has", named), word, spec::hint(word, known));
    at = next;
    named += " " + word;
  }
  return {};
}

}  // namespace attune::tools
