#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "tuner/base/private_folder.hpp"
#include "tuner/compile/compiler.hpp"

namespace attune::compile {

/// Content-addressed files `<folder>/<key[0:2]>/<key>.cubin`: result (cubin, resources, log) with its own digest, so a
/// damaged file is a miss and is removed. Failed compilations are cached as well (they are deterministic); TimedOut and
/// Crashed are not. Beside them lies `claims` (CompileClaims). Concurrent writers of one key write the same bytes; each write is atomic.
class CubinCache {
 public:
  /// Creates the folder (0700). A folder that cannot be written makes the cache read-only. What it holds runs as code: where
  /// others could have written (base::PrivateFolder) the folder, one of its folders or a file counts as absent, whenever that
  /// shows. `warning()` says why.
  explicit CubinCache(std::filesystem::path folder, std::uint64_t limit_bytes = std::uint64_t{1} << 30);
  /// Marks what it finds as recently used.
  [[nodiscard]] std::optional<CompileResult> find(const std::string& key) const;
  /// Trims now and then. False: what belongs here could not be stored, since the cache is read-only or not used.
  bool store(const std::string& key, const CompileResult& result);
  /// Removes the least recently used files until the folder is under its limit. Returns the bytes freed.
  std::uint64_t trim();
  /// The first thing that is wrong; empty when nothing is.
  [[nodiscard]] const std::string& warning() const noexcept { return warning_; }
  /// Whether that is that others could have written here.
  [[nodiscard]] bool refused() const noexcept { return refused_; }

 private:
  /// Opened anew for each use, before a kernel is loaded or compiled: a mode that was changed since is seen.
  [[nodiscard]] base::PrivateFolder open_folder(const std::string& key, base::IfMissing if_missing) const;
  void refuse(const char* part, const std::string& reason) const;

  std::filesystem::path folder_;
  std::uint64_t limit_bytes_;
  std::uint64_t untrimmed_bytes_;  ///< stored since the last trim
  mutable std::string warning_;
  mutable bool refused_ = false;
  bool read_only_ = false;
};

}  // namespace attune::compile
