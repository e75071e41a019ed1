// A clock that is wrong, for LD_PRELOAD: ATTUNE_TEST_CLOCK is "SECONDS", or "SECONDS,CALLS,LATER" for one that stands so many seconds
// ahead (negative: behind) and, after so many questions of a process, at LATER seconds: it was set while the process ran.
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace {

std::atomic<long> asked{0};

long shift_s() {
  long first = 0, calls = 0, later = 0;
  const char* const setting = std::getenv("ATTUNE_TEST_CLOCK");
  if (setting == nullptr) return 0;
  const int fields = std::sscanf(setting, "%ld,%ld,%ld", &first, &calls, &later);
  return fields == 3 && ++asked > calls ? later : first;
}

long raw_gettime(clockid_t clock, timespec* now) { return ::syscall(SYS_clock_gettime, clock, now); }

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const long result = raw_gettime(clock, now);
  if (result == 0 && clock == CLOCK_REALTIME) now->tv_sec += shift_s();
  return static_cast<int>(result);
}

time_t time(time_t* seconds) noexcept {
  timespec now{};
  (void)clock_gettime(CLOCK_REALTIME, &now);
  if (seconds != nullptr) *seconds = now.tv_sec;
  return now.tv_sec;
}

}  // extern "C"
