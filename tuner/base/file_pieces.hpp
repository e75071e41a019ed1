#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

#include "tuner/base/file_descriptor.hpp"

namespace attune::base {

/// A regular file from its beginning to its end, piece by piece: it may be larger than memory. Others may write to it meanwhile.
class FilePieces {
 public:
  static constexpr std::size_t kPieceBytes = std::size_t{8} << 20;

  /// Throws: EnvironmentError naming the path and errno text; a folder, a pipe or a device is refused.
  explicit FilePieces(const std::filesystem::path& path);

  /// The size that it had then: nothing behind that is read.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  /// The next piece, whole unless it is the last; empty at the end. It stands until the next call.
  /// Throws: EnvironmentError, also when the file has been shortened.
  [[nodiscard]] std::string_view next();

 private:
  std::filesystem::path path_;
  FileDescriptor file_;
  std::uint64_t bytes_ = 0, left_ = 0;
  std::unique_ptr<char[]> piece_;
};

}  // namespace attune::base
