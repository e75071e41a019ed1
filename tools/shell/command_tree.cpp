#include "tools/shell/command_tree.hpp"

#include <CLI/CLI.hpp>

#include <initializer_list>

#include "tuner/measure/measurement.hpp"
#include "tuner/search/strategy.hpp"

namespace attune::tools::shell {
namespace {

/// What a CLI::IsMember of the option lets pass: it describes itself as "{bash,zsh,fish}" behind the type's name.
std::vector<std::string> checked_values(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find(":{"), close = type.find('}', open);
  if (open == std::string::npos || close == std::string::npos) return {};
  return CLI::detail::split(type.substr(open + 2, close - open - 2), ',');
}

std::vector<std::string> policy_texts() {
  std::vector<std::string> texts;
  for (const auto cache : {measure::CachePolicy::Cold, measure::CachePolicy::Hot}) {
    for (const auto launch : {measure::LaunchMode::Graph, measure::LaunchMode::Stream}) texts.push_back(measure::to_text({cache, launch}));
  }
  return texts;
}

/// Strategies and policies are checked by what reads them, which knows their names: a check of CLI11 would refuse them in other words.
std::vector<std::string> known_values(const CLI::Option& option, const std::vector<std::string>& path) {
  if (option.check_lname("policy")) return policy_texts();
  if (!option.check_lname("strategy")) return checked_values(option);
  auto names = search::strategy_names();
  // Recorded spaces do not tell what won before.
  if (path == std::vector<std::string>{"simulate"})
    std::erase_if(names, [](const std::string& name) { return search::needs_winners(search::strategy_named(name)); });
  return names;
}

TreeOption tree_option(const CLI::Option& option, const std::vector<std::string>& path) {
  TreeOption told;
  for (const auto& name : option.get_snames()) told.names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) told.names.push_back("--" + name);
  if (told.names.empty()) told.names.push_back(option.get_name(true));
  if (option.get_items_expected_max() != 0) told.value = option.get_type_name().substr(0, option.get_type_name().find(':'));
  told.description = option.get_description();
  told.values = known_values(option, path);
  return told;
}

TreeCommand tree_of(const CLI::App& app, std::vector<std::string> path) {
  TreeCommand told{app.get_name(), std::move(path), app.get_description(), app.get_footer(), {}, {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    (option->get_positional() ? told.positionals : told.options).push_back(tree_option(*option, told.path));
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
