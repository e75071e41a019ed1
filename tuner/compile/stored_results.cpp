#include "tuner/compile/stored_results.hpp"

namespace attune::compile {
namespace {

constexpr std::size_t kRecentBytes = std::size_t{64} << 20;

}  // namespace

StoredResults::StoredResults(const std::filesystem::path& cache) : recent_(kRecentBytes) {
  if (!cache.empty()) cache_ = std::make_unique<CubinCache>(cache);
}

std::optional<CompileResult> StoredResults::find(const std::string& key) {
  auto found = recent_.find(key);
  return found ? found : find_in_cache(key);
}

std::optional<CompileResult> StoredResults::find_in_cache(const std::string& key) {
  if (cache_ == nullptr) return std::nullopt;
  auto found = cache_->find(key);
  if (found) recent_.store(key, *found);
  return found;
}

void StoredResults::store(const std::string& key, const CompileResult& result) {
  recent_.store(key, result);
  if (cache_ != nullptr && !cache_->store(key, result)) dropped_ = true;
}

std::string StoredResults::take_warning() {
  if (cache_ == nullptr || (!dropped_ && !cache_->refused()) || cache_->warning() == told_) return "";
  return told_ = cache_->warning();
}

}  // namespace attune::compile
