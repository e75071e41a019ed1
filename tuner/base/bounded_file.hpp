#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

namespace attune::base {

/// A whole regular file of at most so many bytes. Nobody waits for a pipe, and a file that grows is not read for ever.
/// Throws: UsageError (there is none, or no regular one, or it may not be read), Error with exit code Spec (too large).
[[nodiscard]] std::string read_bounded_file(const std::filesystem::path& path, std::uint64_t most_bytes);

}  // namespace attune::base
