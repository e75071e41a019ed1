#include "tools/shell/command_tree.hpp"

#include <CLI/CLI.hpp>

namespace attune::tools::shell {
namespace {

TreeOption tree_option(const CLI::Option& option) {
  TreeOption told;
  for (const auto& name : option.get_snames()) told.names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) told.names.push_back("--" + name);
  if (told.names.empty()) told.names.push_back(option.get_name(true));
  if (option.get_items_expected_max() != 0) told.value = option.get_type_name().substr(0, option.get_type_name().find(':'));
  told.description = option.get_description();
  return told;
}

TreeCommand tree_of(const CLI::App& app, std::vector<std::string> path) {
  TreeCommand told{app.get_name(), std::move(path), app.get_description(), app.get_footer(), {}, {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    (option->get_positional() ? told.positionals : told.options).push_back(tree_option(*option));
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); })) {
    auto below = told.path;
    below.push_back(command->get_name());
    told.commands.push_back(tree_of(*command, std::move(below)));
  }
  return told;
}

void collect(const TreeCommand& command, std::vector<const TreeCommand*>& all) {
  all.push_back(&command);
  for (const auto& below : command.commands) collect(below, all);
}

}  // namespace

TreeCommand command_tree(const CLI::App& app) { return tree_of(app, {}); }

std::vector<const TreeCommand*> all_commands(const TreeCommand& program) {
  std::vector<const TreeCommand*> all;
  collect(program, all);
  return all;
}

}  // namespace attune::tools::shell
