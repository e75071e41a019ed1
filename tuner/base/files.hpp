#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "tuner/base/replacement.hpp"

namespace attune::base {

/// Whole file as bytes. Throws: EnvironmentError naming the path and errno text.
[[nodiscard]] std::string read_file(const std::filesystem::path& path);

/// Replaces `path` in one step: a reader sees the old or the new bytes, never a mixture, also after a crash (of the machine only
/// when Durable). For the files of attune's own folders; what a user names is written by base::write_output. A link at `path` is
/// replaced, not followed; a folder, a pipe or a device is refused.
/// Throws: EnvironmentError naming the path and errno text; the old file is left unchanged, no leftovers.
void write_file_atomic(const std::filesystem::path& path, std::string_view bytes, Durability durability = Durability::Durable);

/// Creates the folder and its missing parents, each with mode 0700. Throws: Error naming the path and errno text.
void create_private_folder(const std::filesystem::path& folder);

/// XDG folders, created on request with mode 0700: data ($XDG_DATA_HOME or ~/.local/share, + "/attune"), cache
/// ($XDG_CACHE_HOME or ~/.cache, + "/attune"). Empty when neither the variable nor HOME is set (relative values count
/// as unset). A folder that cannot be created is returned all the same: what is then read or written there fails with
/// its path and reason.
[[nodiscard]] std::filesystem::path data_folder();
[[nodiscard]] std::filesystem::path cache_folder();

/// Path of the running executable (/proc/self/exe).
[[nodiscard]] std::filesystem::path own_executable();

}  // namespace attune::base
