#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "tuner/compile/cubin_cache.hpp"
#include "tuner/compile/recent_results.hpp"

namespace attune::compile {

/// Results by cubin key: this run's latest in memory, all in the cache folder where there is one.
class StoredResults {
 public:
  /// `cache`: its folder; empty: none.
  explicit StoredResults(const std::filesystem::path& cache);
  [[nodiscard]] std::optional<CompileResult> find(const std::string& key);
  /// What another process may have stored meanwhile.
  [[nodiscard]] std::optional<CompileResult> find_in_cache(const std::string& key);
  void store(const std::string& key, const CompileResult& result);

  /// Why the cache did not store what was compiled, or is not used; each reason once. Empty: nothing of that is known, or it was told.
  [[nodiscard]] std::string take_warning();

 private:
  RecentResults recent_;
  std::unique_ptr<CubinCache> cache_;
  bool dropped_ = false;  ///< something that was compiled
  std::string told_;
};

}  // namespace attune::compile
