#pragma once
#include <cstdint>
#include <string>

namespace attune::test {

/// What a thread did while it was watched.
struct Watched {
  std::uint64_t system_calls = 0;
  std::uint64_t allocations = 0;  ///< malloc and its kin, operator new among them
  std::uint64_t locks = 0;        ///< of mutexes and reader-writer locks, contended or not
  long last_system_call = -1;     ///< its number
};

/// Watches the calling thread alone, as long as it lives. System calls are caught by the kernel's system call user
/// dispatch (Linux 5.11): each raises a signal, is counted and then made. Allocations and locks are counted by
/// replacing the C library's functions in this program. Not nested.
class Watch {
 public:
  Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch();

  /// What the calling thread did, over all its watches.
  [[nodiscard]] static Watched total();
  /// Prepares the calling thread. Requires: before its first Watch.
  static void arm();
  /// Why this machine or build cannot watch; empty when it can.
  [[nodiscard]] static std::string unavailable_reason();
};

}  // namespace attune::test
