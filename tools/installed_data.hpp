#pragma once
#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace attune::tools {

/// Where installed files of the command's may lie, first to last: beside the running program (<its folder>/../share/attune), so that a
/// prefix may be moved as a whole, and where it was configured to be installed.
[[nodiscard]] std::vector<std::filesystem::path> installed_data_folders();

/// The source tree, for the program of its build tree; empty for one that is anywhere else.
[[nodiscard]] std::filesystem::path source_tree();

/// Whom the running program belongs to: who could replace it needs no file beside it. Programs of a cluster are often a user's of their
/// own.
[[nodiscard]] uid_t owner_of_program();

/// Why anybody but the user, root and `also` could have written a folder or something in it, with the remedy; empty when nobody could.
[[nodiscard]] std::string why_not_trusted_folder(const std::filesystem::path& folder, uid_t also = 0);

}  // namespace attune::tools
