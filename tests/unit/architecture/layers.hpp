#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace attune::test {

/// One breach of the rules of docs/architecture.md: "path:line: what is wrong".
using Breaches = std::vector<std::string>;

/// Checks the text of one file. `path`: relative to the repository root, e.g. "tuner/space/search_space.cpp".
[[nodiscard]] Breaches check_file(const std::string& path, const std::string& text);

/// Checks every .hpp, .cpp, .cu, .cuh and .js file of tuner/, db/ and tools/.
[[nodiscard]] Breaches check_tree(const std::filesystem::path& root);

}  // namespace attune::test
