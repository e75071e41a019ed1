#include "tuner/compile/compile_claims.hpp"

#include <cstdint>

#include "tuner/base/hash.hpp"
#include "tuner/base/private_folder.hpp"
#include "tuner/base/range_lock.hpp"

namespace attune::compile {
namespace {

/// Where a key's byte is. Two keys of one byte would only wait for each other.
off_t place_of(const std::string& key) { return static_cast<off_t>(std::stoull(base::content_key(key).substr(0, 15), nullptr, 16)); }

}  // namespace

CompileClaims::CompileClaims(const std::filesystem::path& cache) {
  if (!cache.empty()) file_ = base::PrivateFolder::open(cache, base::IfMissing::Leave).open_for_locks("claims");
}

bool CompileClaims::take(const std::string& key) const {
  return !file_.open() || base::set_range_lock(file_.get(), base::RangeLock::Alone, place_of(key), 1) != base::Locking::HeldByAnother;
}

void CompileClaims::give_back(const std::string& key) const {
  if (file_.open()) (void)base::set_range_lock(file_.get(), base::RangeLock::None, place_of(key), 1);
}

void CompileClaims::give_back_all() const {
  if (file_.open()) (void)base::set_range_lock(file_.get(), base::RangeLock::None, 0, 0);
}

}  // namespace attune::compile
