#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "tools/fleet/manifest.hpp"

namespace attune::tools {

/// What a shard's problems may take: some millions of them, in memory at once.
inline constexpr std::uint64_t kMostProblemBytes = std::uint64_t{256} << 20;

/// A shard's problems, as the plan wrote them. A name in the manifest may lead to anything by now: nobody waits for a pipe, and nothing
/// that has no end is read for ever. Throws: EnvironmentError (the file is gone, or another one than the manifest
/// names), UsageError (it is no regular file).
[[nodiscard]] std::string read_shard_problems(const std::filesystem::path& folder, const ShardEntry& entry);

/// Copies a regular file of any length in pieces; the copy appears whole, or not at all. A link under the copy's name is not followed: it
/// is refused and stays. Throws: EnvironmentError; also when `from` is no regular file.
void copy_whole(const std::filesystem::path& from, const std::filesystem::path& to);

/// The content key of a regular file of any length, which never is in memory as a whole. Throws: EnvironmentError.
[[nodiscard]] std::string key_of_file(const std::filesystem::path& path);

}  // namespace attune::tools
