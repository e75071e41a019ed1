#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>

#include "tuner/base/file_descriptor.hpp"

namespace attune::base {

/// Called again and again while an input has nothing to give yet; an exception ends the waiting.
using OnWait = std::function<void()>;

/// An input that can be read from here to its end without waiting for anybody.
struct WholeInput {
  FileDescriptor file;
  std::uint64_t bytes = 0;
};

/// Opens a file for reading; "-" is standard input. A pipe, terminal or device is first read to its end into a file without
/// a name in the temporary folder ($TMPDIR): who reads the result may hold a lock meanwhile.
/// Throws: UsageError (no such file, a folder, a socket), EnvironmentError naming the path and errno, what `on_wait` throws.
[[nodiscard]] WholeInput open_whole(const std::filesystem::path& path, const OnWait& on_wait = {});

}  // namespace attune::base
