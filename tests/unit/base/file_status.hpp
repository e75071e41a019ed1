#pragma once
// What lies in a folder, for the tests of outputs.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <iterator>

namespace attune::testing {

inline std::size_t count_in(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()));
}

/// Does not follow a link: its status is the link's own.
inline struct stat status_of(const std::filesystem::path& path) {
  struct stat status {};
  REQUIRE(::lstat(path.c_str(), &status) == 0);
  return status;
}

}  // namespace attune::testing
