#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace attune::tools {

/// Where installed files of the command's may lie, first to last: beside the running program (<its folder>/../share/attune), so that a
/// prefix may be moved as a whole, and where it was configured to be installed.
[[nodiscard]] std::vector<std::filesystem::path> installed_data_folders();

/// The source tree, for the program of its build tree; empty for one that is anywhere else.
[[nodiscard]] std::filesystem::path source_tree();

/// Why anybody but the user, root and the owner of the running program could have written a file or folder, with the remedy; empty when
/// nobody could. Who may replace the program needs no file beside it, and programs of a cluster are often a user's of their own.
[[nodiscard]] std::string why_not_of_the_installation(const std::filesystem::path& path);

}  // namespace attune::tools
