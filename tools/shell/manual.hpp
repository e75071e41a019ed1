#pragma once
#include <map>
#include <string>

#include "tools/shell/command_tree.hpp"

namespace attune::tools::shell {

/// Manual pages by their file names: attune.1, and of every command one of its own, as attune-db-export.1.
/// Source: man(7).
[[nodiscard]] std::map<std::string, std::string> manual_pages(const TreeCommand& program, const std::string& version);

}  // namespace attune::tools::shell
