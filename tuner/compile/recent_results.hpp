#pragma once
#include <cstddef>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>

#include "tuner/compile/compiler.hpp"

namespace attune::compile {

/// Results of this run by cubin key, the most recently used within a limit of bytes: what a run asks for again
/// (finalists, configurations of the next size) is not compiled again without a cache folder, nor read from it. Keeps
/// what would be the same again (Ok, Failed), as CubinCache does.
class RecentResults {
 public:
  explicit RecentResults(std::size_t limit_bytes) : limit_bytes_(limit_bytes) {}
  [[nodiscard]] std::optional<CompileResult> find(const std::string& key);
  void store(const std::string& key, const CompileResult& result);
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::size_t limit_bytes_;
  std::size_t bytes_ = 0;
  std::list<CompileResult> results_;  ///< most recently used first
  std::unordered_map<std::string, std::list<CompileResult>::iterator> by_key_;
};

}  // namespace attune::compile
