#pragma once
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <optional>

namespace attune::tools {

/// Which file a name leads to, as it is: one that is replaced or written has another version. Another task's results are read again then.
struct FileVersion {
  dev_t device = 0;
  ino_t inode = 0;
  std::int64_t bytes = 0, changed_ns = 0;
  [[nodiscard]] bool operator==(const FileVersion&) const = default;
};

/// Nothing where there is none.
[[nodiscard]] inline std::optional<FileVersion> version_of(const std::filesystem::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return FileVersion{found.st_dev, found.st_ino, found.st_size, found.st_mtim.tv_sec * 1'000'000'000 + found.st_mtim.tv_nsec};
}

}  // namespace attune::tools
