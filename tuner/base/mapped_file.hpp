#pragma once
#include <cstddef>
#include <filesystem>
#include <span>

namespace attune::base {

/// A whole file as memory that is read from it when it is looked at. Who shortens the file meanwhile ends the process (SIGBUS): it is for
/// data beside a template, not for what others write at the time.
class MappedFile {
 public:
  /// Throws: EnvironmentError naming the path and errno text; a folder, a pipe or a device is refused.
  explicit MappedFile(const std::filesystem::path& path);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {start_, bytes_}; }

 private:
  const std::byte* start_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace attune::base
