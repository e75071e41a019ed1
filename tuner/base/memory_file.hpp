#pragma once
#include <cstdint>
#include <filesystem>

#include "tuner/base/file_descriptor.hpp"

namespace attune::base {

/// What may still be taken of memory before something else has to go: what the kernel says is available, or less where a
/// control group (a container's) allows less. 0 when nothing says. `root`: where /proc and /sys are looked for.
[[nodiscard]] std::uint64_t available_memory_bytes(const std::filesystem::path& root = "/");

/// The whole of a regular file in memory: no disk ever sees it, and it is gone with its last descriptor. Reads from its
/// beginning, wherever the descriptor stands. Not open where it cannot be made.
[[nodiscard]] FileDescriptor copied_to_memory(const FileDescriptor& file) noexcept;

}  // namespace attune::base
