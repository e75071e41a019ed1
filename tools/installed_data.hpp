#pragma once
#include <filesystem>
#include <vector>

namespace attune::tools {

/// Where installed files of the command's may lie, first to last: beside the running program (<its folder>/../share/attune), so that a
/// prefix may be moved as a whole, and where it was configured to be installed.
[[nodiscard]] std::vector<std::filesystem::path> installed_data_folders();

}  // namespace attune::tools
