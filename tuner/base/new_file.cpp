#include "tuner/base/new_file.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <random>

namespace attune::base {

std::string temporary_name() {
  static std::atomic<unsigned> counter{std::random_device{}()};
  return fmt::format(".attune-{}-{:x}.new", ::getpid(), counter.fetch_add(1));
}

bool write_all(int fd, std::string_view& bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written == 0) errno = EIO;  // no file that takes bytes answers so, and asking again would never end
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace attune::base
