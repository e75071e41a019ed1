#pragma once
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace attune::tools::shell {

/// An option as its command's --help shows it.
struct TreeOption {
  std::vector<std::string> names;  ///< "-o", "--output"; of a positional its one name
  std::string value;               ///< "TEXT", "FILE"; empty: a flag
  std::string description;
  std::vector<std::string> values;  ///< all that it takes, where the command line knows that: "bash", "zsh", "fish"
};

/// A command with what is below it: what completion scripts and manual pages are made of, so that they say what the program does.
struct TreeCommand {
  std::string name;               ///< "export"
  std::vector<std::string> path;  ///< {"db", "export"}; empty of the program itself
  std::string description, footer;
  std::vector<TreeOption> options, positionals;
  std::vector<TreeCommand> commands;
};

[[nodiscard]] TreeCommand command_tree(const CLI::App& app);

/// The program, then every command that can be run or has commands, each before those below it.
[[nodiscard]] std::vector<const TreeCommand*> all_commands(const TreeCommand& program);

}  // namespace attune::tools::shell
