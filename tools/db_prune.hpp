#pragma once

namespace CLI {
class App;
}

namespace attune::tools {

struct CommandContext;

/// attune db prune: removes what nobody wants any more; without --yes it only says what that is.
void add_prune_command(CLI::App& db, CommandContext& context);

}  // namespace attune::tools
