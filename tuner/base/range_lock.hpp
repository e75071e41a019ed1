#pragma once
#include <sys/types.h>

namespace attune::base {

enum class RangeLock { Alone, Shared, None };
enum class Locking { Done, HeldByAnother, Failed };

/// Locks bytes of an open file, or frees them, without waiting. The locks belong to the open file (F_OFD_SETLK), not to the process:
/// threads and forks that share no descriptor share no lock, and the kernel frees them with the last descriptor, however its process ends.
/// length: in bytes; 0: to the end, wherever that is. After Failed errno says why.
[[nodiscard]] Locking set_range_lock(int fd, RangeLock lock, off_t start, off_t length) noexcept;

}  // namespace attune::base
