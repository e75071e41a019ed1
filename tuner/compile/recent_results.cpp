#include "tuner/compile/recent_results.hpp"

#include <utility>

namespace attune::compile {
namespace {

std::size_t bytes_of(const CompileResult& result) {
  std::size_t bytes = sizeof(CompileResult) + result.key.size() + result.cubin.size() + result.log.size();
  for (const KernelResources& kernel : result.kernels) bytes += sizeof(KernelResources) + kernel.kernel.size();
  return bytes;
}

}  // namespace

std::optional<CompileResult> RecentResults::find(const std::string& key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return std::nullopt;
  results_.splice(results_.begin(), results_, found->second);
  return results_.front();
}

void RecentResults::store(const std::string& key, const CompileResult& result) {
  const bool lasting = result.status == CompileStatus::Ok || result.status == CompileStatus::Failed;
  if (!lasting || bytes_of(result) > limit_bytes_ || by_key_.contains(key)) return;
  results_.push_front(result);
  CompileResult& kept = results_.front();
  kept.key = key;
  kept.compile_ms = 0;
  kept.from_cache = true;
  kept.headers = HeaderUse::None;
  kept.headers_refusal.clear();
  by_key_.emplace(key, results_.begin());
  bytes_ += bytes_of(kept);
  while (bytes_ > limit_bytes_) {
    bytes_ -= bytes_of(results_.back());
    by_key_.erase(results_.back().key);
    results_.pop_back();
  }
}

}  // namespace attune::compile
