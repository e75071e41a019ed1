#pragma once

namespace CLI {
class App;
}

namespace attune::tools {

struct CommandContext;

/// `attune template import`: a template of another tuner's description of a kernel.
void add_template_import_command(CLI::App& parent, CommandContext& context);

}  // namespace attune::tools
