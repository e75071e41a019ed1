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
  if (cache_ != nullptr) cache_->store(key, result);
}

std::string StoredResults::take_warning() {
  if (told_ || cache_ == nullptr || cache_->warning().empty()) return "";
  told_ = true;
  return cache_->warning();
}

}  // namespace attune::compile
