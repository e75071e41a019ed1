#pragma once
#include <string>

#include "tools/shell/command_tree.hpp"

namespace attune::tools::shell {

/// A script that completes the program's commands and options in a shell, and file names where neither fits.
/// Source: bash(1), Programmable Completion.
[[nodiscard]] std::string bash_completion(const TreeCommand& program);
/// Source: zshcompsys(1).
[[nodiscard]] std::string zsh_completion(const TreeCommand& program);
/// Source: fish's complete(1).
[[nodiscard]] std::string fish_completion(const TreeCommand& program);

}  // namespace attune::tools::shell
