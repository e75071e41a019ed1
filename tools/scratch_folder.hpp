#pragma once
#include <filesystem>

namespace attune::tools {

/// A new folder of this process alone, among the temporary ones, that is gone when its owner is, whatever happens.
class ScratchFolder {
 public:
  /// Throws: EnvironmentError when it cannot be made.
  ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace attune::tools
