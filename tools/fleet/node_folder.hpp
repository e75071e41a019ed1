#pragma once
#include <filesystem>
#include <string>

#include "tuner/base/file_descriptor.hpp"

namespace attune::tools {

/// A node's folder for one plan, with a lock on one shard of it: two tasks of one node on one shard would do everything twice.
class NodeFolder {
 public:
  /// Where the plan's tasks of this user work below `parent`. `plan`: a key.
  [[nodiscard]] static std::filesystem::path place(const std::filesystem::path& parent, const std::string& plan);
  /// Makes the folder where there is none. Throws: EnvironmentError (another task of this node works at the shard; the folder is somebody
  /// else's, or cannot be written).
  NodeFolder(std::filesystem::path path, std::size_t shard);
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  [[noreturn]] void fail(const char* doing, const std::string& why) const;

  std::filesystem::path path_;
  base::FileDescriptor lock_;
};

}  // namespace attune::tools
