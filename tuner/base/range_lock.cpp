#include "tuner/base/range_lock.hpp"

#include <fcntl.h>

#include <cerrno>

namespace attune::base {
namespace {

short type_of(RangeLock lock) noexcept {
  switch (lock) {
    case RangeLock::Alone:
      return F_WRLCK;
    case RangeLock::Shared:
      return F_RDLCK;
    case RangeLock::None:
      break;
  }
  return F_UNLCK;
}

}  // namespace

Locking set_range_lock(int fd, RangeLock lock, off_t start, off_t length) noexcept {
  struct flock range {};
  range.l_type = type_of(lock);
  range.l_whence = SEEK_SET;
  range.l_start = start;
  range.l_len = length;
  for (;;) {
    if (::fcntl(fd, F_OFD_SETLK, &range) == 0) return Locking::Done;
    if (errno == EINTR) continue;
    return errno == EAGAIN || errno == EACCES ? Locking::HeldByAnother : Locking::Failed;
  }
}

}  // namespace attune::base
