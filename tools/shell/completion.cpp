#include "tools/shell/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace attune::tools::shell {
namespace {

std::string place_of(const TreeCommand& command) { return command.path.empty() ? "" : fmt::format("/{}", fmt::join(command.path, "/")); }

/// The first sentence or line of a description: lists have little room.
std::string short_text(const std::string& text) { return text.substr(0, std::min(text.find('\n'), text.find("; "))); }

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

/// "'(-o --output)'{-o,--output}'[description]:FILE:_files'" of _arguments.
std::string zsh_option(const TreeOption& option) {
  std::string spec = option.names.size() > 1 ? fmt::format("'({})'{{{}}}", fmt::join(option.names, " "), fmt::join(option.names, ","))
                                             : option.names.front();
  spec += fmt::format("'[{}]", zsh_escaped(short_text(option.description), "[]:\\"));
  if (!option.value.empty()) spec += fmt::format(":{}:_files", zsh_escaped(option.value, ":\\"));
  return spec + "'";
}

}  // namespace

std::string bash_completion(const TreeCommand& program) {
  std::string script =
      "# bash completion of attune; made by `attune completion bash`.\n"
      "_attune() {\n"
      "  local place= words= i\n"
      "  COMPREPLY=()\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    case \"$place/${COMP_WORDS[i]}\" in\n" +
      place_cases(program, "      ") +
      "    esac\n"
      "  done\n"
      "  case \"$place\" in\n";
  for (const TreeCommand* command : all_commands(program)) {
    std::vector<std::string> words;
    for (const auto& below : command->commands) words.push_back(below.name);
    for (const auto& option : command->options) words.insert(words.end(), option.names.begin(), option.names.end());
    script += fmt::format("    '{}') words='{}' ;;\n", place_of(*command), fmt::join(words, " "));
  }
  script +=
      "  esac\n"
      "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\")\n"
      "}\n"
      "complete -o default -F _attune attune\n";
  return script;
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
  std::string places;
  for (const TreeCommand* command : all_commands(program)) {
    if (!command->path.empty()) places += " " + place_of(*command);
  }
  // A word is a command only behind the commands that it belongs to: values of options and names of files may be the same words.
  std::string script =
      "# fish completion of attune; made by `attune completion fish`.\n"
      "function __attune_is_at\n"
      "  set -l place ''\n"
      "  for word in (commandline -opc)[2..-1]\n"
      "    if contains -- \"$place/$word\"" +
      places +
      "\n"
      "      set place \"$place/$word\"\n"
      "    end\n"
      "  end\n"
      "  test \"$place\" = \"$argv[1]\"\n"
      "end\n";
  for (const TreeCommand* command : all_commands(program)) {
    const std::string here = fmt::format("__attune_is_at \"{}\"", place_of(*command));
    for (const auto& below : command->commands)
      script +=
          fmt::format("complete -c attune -f -n '{}' -a {} -d '{}'\n", here, below.name, single_quoted(short_text(below.description)));
    for (const auto& option : command->options) {
      std::string names;
      for (const auto& name : option.names) names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      script += fmt::format("complete -c attune -n '{}'{}{} -d '{}'\n", here, names, option.value.empty() ? "" : " -r",
                            single_quoted(short_text(option.description)));
    }
  }
  return script;
}

}  // namespace attune::tools::shell
