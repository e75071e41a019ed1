#pragma once
#include <string>

namespace attune::tools {

/// What --version prints, a line each: the program with the content of what decides what happens on a GPU, what it is built with, and the
/// shipped templates with the beginning of the hash under which their results are stored.
[[nodiscard]] std::string version_text();

}  // namespace attune::tools
