#include "tuner/compile/compile_claims.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstdint>

#include "tuner/base/hash.hpp"
#include "tuner/base/private_folder.hpp"

namespace attune::compile {
namespace {

/// Where a key's byte is. Two keys of one byte would only wait for each other.
off_t place_of(const std::string& key) { return static_cast<off_t>(std::stoull(base::content_key(key).substr(0, 15), nullptr, 16)); }

/// Of the open file, not of the process: threads and forks that share no descriptor share no lock.
int set_lock(int fd, short type, off_t start, off_t length) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = start;
  lock.l_len = length;
  int result = 0;
  do {
    result = ::fcntl(fd, F_OFD_SETLK, &lock);
  } while (result != 0 && errno == EINTR);
  return result;
}

}  // namespace

CompileClaims::CompileClaims(const std::filesystem::path& cache) {
  if (!cache.empty()) file_ = base::PrivateFolder::open(cache, base::IfMissing::Leave).open_for_locks("claims");
}

bool CompileClaims::take(const std::string& key) const {
  const bool theirs = file_.open() && set_lock(file_.get(), F_WRLCK, place_of(key), 1) != 0 && (errno == EAGAIN || errno == EACCES);
  return !theirs;
}

void CompileClaims::give_back(const std::string& key) const {
  if (file_.open()) (void)set_lock(file_.get(), F_UNLCK, place_of(key), 1);
}

void CompileClaims::give_back_all() const {
  if (file_.open()) (void)set_lock(file_.get(), F_UNLCK, 0, 0);  // 0 bytes: to the end, wherever that is
}

}  // namespace attune::compile
