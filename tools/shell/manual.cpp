#include "tools/shell/manual.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <sstream>

namespace attune::tools::shell {
namespace {

/// Text of a page as it is: no character of it is an instruction.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n'))
      out += std::string("\\&") + c;
    else
      out += c;
  }
  return out;
}

std::string page_name(const TreeCommand& command) {
  return fmt::format("attune{}{}", command.path.empty() ? "" : "-", fmt::join(command.path, "-"));
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string option_head(const TreeOption& option) {
  std::string head = fmt::format("\\fB{}\\fR", escaped(fmt::format("{}", fmt::join(option.names, ", "))));
  if (!option.value.empty()) head += fmt::format(" \\fI{}\\fR", escaped(option.value));
  return head;
}

std::string options_section(const char* title, const std::vector<TreeOption>& options) {
  if (options.empty()) return {};
  std::string section = fmt::format(".SH {}\n", title);
  for (const auto& option : options) section += fmt::format(".TP\n{}\n{}\n", option_head(option), escaped(option.description));
  return section;
}

/// Line ends stay: help texts are laid out for a terminal.
std::string kept_lines(const std::string& text) { return text.empty() ? "" : fmt::format(".PP\n.nf\n{}\n.fi\n", escaped(text)); }

std::string commands_section(const TreeCommand& command) {
  if (command.commands.empty()) return {};
  std::string section = ".SH COMMANDS\n";
  for (const auto& below : command.commands)
    section +=
        fmt::format(".TP\n\\fB{}\\fR\n{}; \\fB{}\\fR(1)\n", escaped(below.name), escaped(below.description), escaped(page_name(below)));
  return section;
}

std::string page_of(const TreeCommand& command, const TreeCommand& program, const std::string& version) {
  const std::string name = page_name(command);
  std::string page = fmt::format(".\\\" Made by `attune manual`.\n.TH {} 1 \"\" \"attune {}\" \"attune\"\n", escaped(upper(name)), version);
  page += fmt::format(".SH NAME\n{} \\- {}\n", escaped(name), escaped(command.description));
  page += fmt::format(".SH SYNOPSIS\n\\fBattune{}{}\\fR [\\fIoptions\\fR]", command.path.empty() ? "" : " ",
                      escaped(fmt::format("{}", fmt::join(command.path, " "))));
  for (const auto& positional : command.positionals) page += fmt::format(" \\fI{}\\fR", escaped(positional.names.front()));
  page += command.commands.empty() ? "\n" : " \\fIcommand\\fR\n";
  page += fmt::format(".SH DESCRIPTION\n{}\n", escaped(command.description)) + kept_lines(command.footer);
  page += commands_section(command) + options_section("ARGUMENTS", command.positionals) + options_section("OPTIONS", command.options);
  if (!command.path.empty()) {
    page += ".SH EXIT CODES AND ENVIRONMENT\n" + kept_lines(program.footer);
    page += ".SH SEE ALSO\n\\fBattune\\fR(1)\n";
  }
  return page;
}

}  // namespace

std::map<std::string, std::string> manual_pages(const TreeCommand& program, const std::string& version) {
  std::map<std::string, std::string> pages;
  for (const TreeCommand* command : all_commands(program)) pages[page_name(*command) + ".1"] = page_of(*command, program, version);
  return pages;
}

}  // namespace attune::tools::shell
