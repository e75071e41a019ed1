#pragma once

namespace CLI {
class App;
}

namespace attune::tools {

struct CommandContext;

/// `attune template init`: a template of a plain CUDA source.
void add_template_init_command(CLI::App& parent, CommandContext& context);

}  // namespace attune::tools
