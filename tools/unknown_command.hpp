#pragma once
#include <string>

namespace CLI {
class App;
}

namespace attune::tools {

/// What to tell of a command line whose first words name a command that is not there: "there is no command 'tun'; did you mean 'tune'?".
/// CLI11 tells only that a command is missing. Empty where all of them are there, and where an option stands before the command.
[[nodiscard]] std::string unknown_command(CLI::App& app, int argc, char** argv);

}  // namespace attune::tools
