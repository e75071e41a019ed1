#pragma once
#include <filesystem>
#include <string>

namespace attune::base {

/// Whole file as bytes. Throws: EnvironmentError naming the path and errno text.
[[nodiscard]] std::string read_file(const std::filesystem::path& path);

/// XDG folders, created on request with mode 0700: data ($XDG_DATA_HOME or ~/.local/share, + "/attune"), cache
/// ($XDG_CACHE_HOME or ~/.cache, + "/attune"). Empty when neither the variable nor HOME is set (relative values count
/// as unset). A folder that cannot be created is returned all the same: what is then read or written there fails with
/// its path and reason.
[[nodiscard]] std::filesystem::path data_folder();
[[nodiscard]] std::filesystem::path cache_folder();

/// Path of the running executable: /proc/self/exe, and without /proc what it was started as. Throws: EnvironmentError.
[[nodiscard]] std::filesystem::path own_executable();

}  // namespace attune::base
