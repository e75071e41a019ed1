#include "tuner/base/cpu_claims.hpp"

#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string>

namespace attune::base {
namespace {

/// An abstract address: its name begins with a zero byte, and no file stands for it.
struct Address {
  explicit Address(int cpu) {
    const std::string name = fmt::format("attune.timing.cpu.{}", cpu);
    std::copy(name.begin(), name.end(), un.sun_path + 1);
    length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  }
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&un); }

  sockaddr_un un{.sun_family = AF_UNIX, .sun_path = {}};
  socklen_t length = 0;
};

FileDescriptor new_socket() { return FileDescriptor(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)); }

/// Asks without claiming: who asks must not be taken for an owner by another who asks.
bool is_claimed(int cpu) {
  const FileDescriptor socket = new_socket();
  const Address address(cpu);
  return socket.open() && ::connect(socket.get(), address.get(), address.length) == 0;
}

}  // namespace

CpuClaims::CpuClaims(const std::vector<int>& available, int wanted) {
  for (auto cpu = available.rbegin(); cpu != available.rend(); ++cpu) {
    if (static_cast<int>(held_.size()) == wanted) {
      if (!is_claimed(*cpu)) not_of_others_.push_back(*cpu);
      continue;
    }
    FileDescriptor socket = new_socket();
    const Address address(*cpu);
    if (socket.open() && ::bind(socket.get(), address.get(), address.length) != 0 && errno == EADDRINUSE) continue;
    not_of_others_.push_back(*cpu);
    held_.push_back(std::move(socket));
  }
  std::reverse(not_of_others_.begin(), not_of_others_.end());
}

}  // namespace attune::base
