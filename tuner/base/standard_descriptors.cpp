#include "tuner/base/standard_descriptors.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>

namespace attune::base {

void occupy_standard_descriptors() noexcept {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is this one. Standard input is opened for writing and the outputs for reading: that they cannot be
    // used stays visible.
    const int mode = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    if (::open("/dev/null", mode) < 0) (void)::open("/", O_PATH);  // no /dev here: as useless, and always there
  }
}

int above_standard_descriptors(int fd) noexcept {
  if (fd < 0 || fd > STDERR_FILENO) return fd;
  const int high = ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int error = errno;
  ::close(fd);
  errno = error;
  return high;
}

bool may_open(std::uint64_t count) noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= count) return true;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, count);
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur >= count;
}

bool few_descriptors_left() noexcept {
  constexpr std::size_t kOfADatabase = 6;  // the file, its log, its shared memory, its lock, a journal, a folder
  std::array<int, kOfADatabase> taken{};
  std::size_t count = 0;
  while (count < taken.size() && (taken.at(count) = ::open("/", O_PATH | O_CLOEXEC)) >= 0) ++count;
  const bool few = count < taken.size() && (errno == EMFILE || errno == ENFILE);
  for (std::size_t i = 0; i < count; ++i) ::close(taken.at(i));
  return few;
}

}  // namespace attune::base
