#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "tuner/compile/compiler.hpp"

namespace attune::compile {

/// Content-addressed files `<folder>/<key[0:2]>/<key>.cubin`: result (cubin, resources, log) with its own digest, so a
/// damaged file is a miss and is removed. Failed compilations are cached as well (they are deterministic).
/// Concurrent writers of one key write the same bytes; each write is atomic.
class CubinCache {
 public:
  /// Creates the folder (0700). A folder that cannot be written makes the cache read-only, reported once by `warning()`.
  explicit CubinCache(std::filesystem::path folder, std::uint64_t limit_bytes = std::uint64_t{1} << 30);
  [[nodiscard]] std::optional<CompileResult> find(const std::string& key) const;
  void store(const std::string& key, const CompileResult& result);
  /// Removes the least recently used files until the folder is under its limit. Returns the bytes freed.
  std::uint64_t trim();
  [[nodiscard]] const std::string& warning() const noexcept { return warning_; }

 private:
  std::filesystem::path folder_;
  std::uint64_t limit_bytes_;
  std::string warning_;
};

}  // namespace attune::compile
