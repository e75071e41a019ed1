#pragma once
#include <cstddef>
#include <string_view>

namespace attune::base {

/// One file compiled into the library by cmake/embed.cmake.
struct EmbeddedFile {
  std::string_view path;      ///< Relative to the repository root, e.g. "templates/reduce/reduce.cu".
  std::string_view contents;  ///< The bytes as they were at build time.
};

struct EmbeddedFiles {
  const EmbeddedFile* files;
  std::size_t count;
  [[nodiscard]] const EmbeddedFile* begin() const { return files; }
  [[nodiscard]] const EmbeddedFile* end() const { return files + count; }
};

}  // namespace attune::base
