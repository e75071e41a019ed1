#pragma once
// The clock that single launches are timed with.
#include <chrono>
#include <cstdint>
#include <thread>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace attune::bench {

/// Ticks of the time-stamp counter, ordered with what is timed; steady_clock nanoseconds where there is none.
inline std::uint64_t ticks() {
#if defined(__x86_64__)
  _mm_lfence();
  const std::uint64_t now = __rdtsc();
  _mm_lfence();
  return now;
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

inline double ns_per_tick() {
  const auto start = std::chrono::steady_clock::now();
  const std::uint64_t first = ticks();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const std::uint64_t last = ticks();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / static_cast<double>(last - first);
}

}  // namespace attune::bench
