#pragma once
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace attune::test {

/// What a file holds from now on.
inline void write_bytes(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw std::runtime_error("failed writing " + path.string());
}

}  // namespace attune::test
