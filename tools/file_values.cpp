#include "tools/file_values.hpp"

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace attune::tools {
namespace {

constexpr std::array kWritten{"db", "html", "output", "scratch"};

bool names_written_file(const CLI::Option& option) {
  return std::any_of(kWritten.begin(), kWritten.end(), [&](const char* name) { return option.check_lname(name); });
}

std::string file_value_fault(const std::string& value) {
  if (value.empty()) return "the name is empty; a variable that is not set? Leave the option away for its default";
  if (value.starts_with("--")) return fmt::format("no name stands before {0}; write ./{0} for a file that is called so", value);
  return {};
}

}  // namespace

void refuse_empty_files(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (names_written_file(*option)) option->check(file_value_fault);
  }
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) refuse_empty_files(*command);
}

}  // namespace attune::tools
