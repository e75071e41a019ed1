#include "tools/shell/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace attune::tools::shell {
namespace {

std::string place_of(const TreeCommand& command) { return command.path.empty() ? "" : fmt::format("/{}", fmt::join(command.path, "/")); }

/// The first sentence or line of a description: lists have little room. What stands in parentheses is no sentence of its own.
std::string short_text(const std::string& text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')') --depth;
    if (text[i] == '\n' || (depth <= 0 && text.compare(i, 2, "; ") == 0)) return text.substr(0, i);
  }
  return text;
}

/// Within '...' of a shell.
std::string single_quoted(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out;
}

/// Cases that lead from the place so far and a word to the place of a command: "/db/export".
std::string place_cases(const TreeCommand& program, const std::string& indent) {
  std::string cases;
  for (const TreeCommand* command : all_commands(program)) {
    if (!command->path.empty()) cases += fmt::format("{0}{1}) place={1} ;;\n", indent, place_of(*command));
  }
  return cases;
}

std::string zsh_escaped(const std::string& text, const std::string& specials) {
  std::string out;
  for (const char c : text) {
    if (specials.find(c) != std::string::npos) out += '\\';
    out += c;
  }
  return single_quoted(out);
}

/// A line of the inner cases of bash's script; none where nothing is to be offered.
std::string bash_case(const std::string& pattern, const std::vector<std::string>& words) {
  if (words.empty()) return {};
  return fmt::format("      '{}') words='{}' ;;\n", single_quoted(pattern), single_quoted(fmt::format("{}", fmt::join(words, " "))));
}

std::vector<std::string> option_names(const TreeCommand& command) {
  std::vector<std::string> names;
  for (const auto& option : command.options) names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

/// Places of all options behind which a value stands: "/report/--db".
std::vector<std::string> valued_options(const TreeCommand& program) {
  std::vector<std::string> places;
  for (const TreeCommand* command : all_commands(program)) {
    for (const auto& option : command->options) {
      if (option.value.empty()) continue;
      for (const auto& name : option.names) places.push_back(place_of(*command) + "/" + name);
    }
  }
  return places;
}

std::string bash_valued_options(const TreeCommand& program) {
  return fmt::format("      {}) option=$place/$word ;;\n", fmt::join(valued_options(program), " | "));
}

/// Words of fish's `complete` by which it offers these values and no files.
std::string fish_values(const TreeOption& option) {
  return option.values.empty() ? "" : fmt::format(" -f -a '{}'", single_quoted(fmt::format("{}", fmt::join(option.values, " "))));
}

/// The function that tells whether the words so far lead to a place, and whether so many arguments stand behind it. A word is a command
/// only behind the commands that it belongs to: values of options and names of files may be the same words.
std::string fish_place(const TreeCommand& program) {
  std::vector<std::string> places;
  for (const TreeCommand* command : all_commands(program)) {
    if (!command->path.empty()) places.push_back(place_of(*command));
  }
  return fmt::format(R"(# fish completion of attune; made by `attune completion fish`.
function __attune_is_at
  set -l place ''
  set -l count 0
  set -l is_value false
  for word in (commandline -opc)[2..-1]
    if $is_value
      set is_value false
    else if contains -- "$place/$word" {}
      set place "$place/$word"
    else if contains -- "$place/$word" {}
      set is_value true
    else if not string match -q -- '-*' "$word"
      set count (math $count + 1)
    end
  end
  test "$place" = "$argv[1]"; or return 1
  test (count $argv) -eq 1; or test $count -eq $argv[2]
end
)",
                     fmt::join(places, " "), fmt::join(valued_options(program), " "));
}

/// What _arguments offers in a value's place.
std::string zsh_values(const TreeOption& option) {
  if (option.values.empty()) return "_files";
  std::vector<std::string> words;
  for (const auto& value : option.values) words.push_back(zsh_escaped(value, " :()\\"));
  return fmt::format("({})", fmt::join(words, " "));
}

/// "'(-o --output)'{-o,--output}'[description]:FILE:_files'" of _arguments.
std::string zsh_option(const TreeOption& option) {
  std::string spec = option.names.size() > 1 ? fmt::format("'({})'{{{}}}", fmt::join(option.names, " "), fmt::join(option.names, ","))
                                             : option.names.front();
  spec += fmt::format("'[{}]", zsh_escaped(short_text(option.description), "[]:\\"));
  if (!option.value.empty()) spec += fmt::format(":{}:{}", zsh_escaped(option.value, ":\\"), zsh_values(option));
  return spec + "'";
}

/// "'2:shell:(bash zsh fish)'" of _arguments, for which the commands are arguments too.
std::string zsh_positionals(const TreeCommand& command) {
  std::string specs;
  for (std::size_t i = 0; i < command.positionals.size(); ++i) {
    const auto& positional = command.positionals[i];
    if (positional.values.empty()) continue;
    specs += fmt::format("        '{}:{}:{}'\n", command.path.size() + i + 1, zsh_escaped(positional.names.front(), ":\\"),
                         zsh_values(positional));
  }
  return specs;
}

}  // namespace

std::string bash_completion(const TreeCommand& program) {
  std::string options, values, arguments;
  for (const TreeCommand* command : all_commands(program)) {
    options += bash_case(place_of(*command), option_names(*command));
    for (const auto& option : command->options) {
      for (const auto& name : option.names) values += bash_case(place_of(*command) + "/" + name, option.values);
    }
    std::vector<std::string> below;
    for (const auto& one : command->commands) below.push_back(one.name);
    arguments += bash_case(place_of(*command) + "/0", below);
    for (std::size_t i = 0; i < command->positionals.size(); ++i)
      arguments += bash_case(fmt::format("{}/{}", place_of(*command), i), command->positionals[i].values);
  }
  // bash cuts --option=value into three words. Where no word fits, -o default completes names of files.
  return "# bash completion of attune; made by `attune completion bash`.\n"
         "_attune() {\n"
         "  local place= option= words= count=0 i word current=${COMP_WORDS[COMP_CWORD]}\n"
         "  COMPREPLY=()\n"
         "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
         "    word=${COMP_WORDS[i]}\n"
         "    [[ $word != = ]] || continue\n"
         "    if [[ -n $option ]]; then option=; continue; fi\n"
         "    case \"$place/$word\" in\n" +
         place_cases(program, "      ") + bash_valued_options(program) +
         "      */-*) ;;\n"
         "      *) ((++count)) ;;\n"
         "    esac\n"
         "  done\n"
         "  [[ $current != = ]] || current=\n"
         "  if [[ -n $option ]]; then\n"
         "    case \"$option\" in\n" +
         values +
         "    esac\n"
         "  elif [[ $current == -* ]]; then\n"
         "    case \"$place\" in\n" +
         options +
         "    esac\n"
         "  else\n"
         "    case \"$place/$count\" in\n" +
         arguments +
         "    esac\n"
         "  fi\n"
         "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
         "}\n"
         "complete -o default -F _attune attune\n";
}

std::string zsh_completion(const TreeCommand& program) {
  std::string script =
      "#compdef attune\n"
      "# zsh completion of attune; made by `attune completion zsh`.\n"
      "_attune() {\n"
      "  local place= word\n"
      "  local -a commands options\n"
      "  for word in \"${(@)words[2,CURRENT-1]}\"; do\n"
      "    case \"$place/$word\" in\n" +
      place_cases(program, "      ") +
      "    esac\n"
      "  done\n"
      "  case \"$place\" in\n";
  for (const TreeCommand* command : all_commands(program)) {
    script += fmt::format("    '{}')\n      commands=(\n", place_of(*command));
    for (const auto& below : command->commands)
      script += fmt::format("        '{}:{}'\n", below.name, zsh_escaped(short_text(below.description), ":\\"));
    script += "      )\n      options=(\n";
    for (const auto& option : command->options) script += "        " + zsh_option(option) + "\n";
    script += zsh_positionals(*command);
    script += "      ) ;;\n";
  }
  script +=
      "  esac\n"
      "  if (( $#commands )); then\n"
      "    _describe -t commands command commands\n"
      "  fi\n"
      "  _arguments -S $options '*:file:_files'\n"
      "}\n"
      "_attune \"$@\"\n";
  return script;
}

std::string fish_completion(const TreeCommand& program) {
  std::string script = fish_place(program);
  for (const TreeCommand* command : all_commands(program)) {
    const std::string place = place_of(*command);
    for (const auto& below : command->commands)
      script += fmt::format("complete -c attune -f -n '__attune_is_at \"{}\"' -a {} -d '{}'\n", place, below.name,
                            single_quoted(short_text(below.description)));
    for (std::size_t i = 0; i < command->positionals.size(); ++i) {
      const auto& positional = command->positionals[i];
      if (positional.values.empty()) continue;
      script += fmt::format("complete -c attune -n '__attune_is_at \"{}\" {}'{}\n", place, i, fish_values(positional));
    }
    for (const auto& option : command->options) {
      std::string names;
      for (const auto& name : option.names) names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      const std::string head =
          fmt::format("complete -c attune -n '__attune_is_at \"{}\"'{}{}", place, names, option.value.empty() ? "" : " -r");
      // Before the description and apart from it, which fish would show behind each value.
      if (!option.values.empty()) script += head + fish_values(option) + "\n";
      script += fmt::format("{} -d '{}'\n", head, single_quoted(short_text(option.description)));
    }
  }
  return script;
}

}  // namespace attune::tools::shell
