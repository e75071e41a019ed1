#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace attune::db {

/// The name of a file system on which processes of several hosts may meet, by the magic number that statfs gives: no
/// shared memory spans them, so WAL is out of the question there. Nothing for a local one.
/// FUSE counts as one: the kernel does not say what is behind it (sshfs, an object store, a local folder).
/// Source:   statfs(2), linux/magic.h
[[nodiscard]] std::optional<std::string> network_file_system(std::uint32_t magic);

/// The same of the file system that holds `path`, or its folder while it does not exist. One that cannot be asked counts
/// as local: whatever is wrong with it shows when the file is opened.
[[nodiscard]] std::optional<std::string> network_file_system_of(const std::filesystem::path& path);

}  // namespace attune::db
