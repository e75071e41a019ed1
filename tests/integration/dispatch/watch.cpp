#include "tests/integration/dispatch/watch.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define ATTUNE_CAN_WATCH 1
#else
#define ATTUNE_CAN_WATCH 0
#endif

namespace attune::test {
namespace {

constinit thread_local bool watching = false;
constinit thread_local Watched watched;

}  // namespace
}  // namespace attune::test

#if ATTUNE_CAN_WATCH
using attune::test::watched;
using attune::test::watching;

namespace {

// From <linux/prctl.h>; older headers lack it.
constexpr int kSetSyscallUserDispatch = 59;
constexpr unsigned char kAllow = 0, kBlock = 1;
constinit thread_local volatile unsigned char selector = kAllow;

long raw_system_call(const greg_t* registers) {
  long result = 0;
  register long r10 asm("r10") = registers[REG_R10];
  register long r8 asm("r8") = registers[REG_R8];
  register long r9 asm("r9") = registers[REG_R9];
  asm volatile("syscall"
               : "=a"(result)
               : "a"(registers[REG_RAX]), "D"(registers[REG_RDI]), "S"(registers[REG_RSI]), "d"(registers[REG_RDX]), "r"(r10), "r"(r8),
                 "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

/// Counts the call and makes it. The thread is not watched any further until its next Watch: returning from here is a
/// system call as well.
void on_system_call(int, siginfo_t* info, void* raw_context) {
  selector = kAllow;
  ++watched.system_calls;
  watched.last_system_call = info->si_syscall;
  auto* const registers = static_cast<ucontext_t*>(raw_context)->uc_mcontext.gregs;
  registers[REG_RAX] = info->si_syscall;
  registers[REG_RAX] = raw_system_call(registers);
}

void count_allocation() {
  if (watching) ++watched.allocations;
}

/// The C library's function of this name and type.
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

// The C library's own, in its place.
extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* block, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);

void* malloc(std::size_t bytes) {
  count_allocation();
  return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) {
  count_allocation();
  return __libc_calloc(count, bytes);
}
void* realloc(void* block, std::size_t bytes) {
  count_allocation();
  return __libc_realloc(block, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  count_allocation();
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  count_allocation();
  *block = __libc_memalign(alignment, bytes);
  return *block == nullptr ? ENOMEM : 0;
}

int pthread_mutex_lock(pthread_mutex_t* mutex) {
  static auto* const real = next<int(pthread_mutex_t*)>("pthread_mutex_lock");
  if (watching) ++watched.locks;
  return real(mutex);
}
int pthread_mutex_trylock(pthread_mutex_t* mutex) {
  static auto* const real = next<int(pthread_mutex_t*)>("pthread_mutex_trylock");
  if (watching) ++watched.locks;
  return real(mutex);
}
int pthread_rwlock_rdlock(pthread_rwlock_t* lock) {
  static auto* const real = next<int(pthread_rwlock_t*)>("pthread_rwlock_rdlock");
  if (watching) ++watched.locks;
  return real(lock);
}
int pthread_rwlock_wrlock(pthread_rwlock_t* lock) {
  static auto* const real = next<int(pthread_rwlock_t*)>("pthread_rwlock_wrlock");
  if (watching) ++watched.locks;
  return real(lock);
}
}

namespace attune::test {

std::string Watch::unavailable_reason() {
  unsigned char local = kAllow;
  if (::prctl(kSetSyscallUserDispatch, 1, 0, 0, &local) != 0) {
    return std::string("the kernel has no system call user dispatch: prctl failed: ") + std::strerror(errno);
  }
  ::prctl(kSetSyscallUserDispatch, 0, 0, 0, 0);
  return "";
}

void Watch::arm() {
  struct sigaction action {};
  action.sa_sigaction = on_system_call;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGSYS, &action, nullptr);
  ::prctl(kSetSyscallUserDispatch, 1, 0, 0, &selector);
}

Watch::Watch() {
  watching = true;
  selector = kBlock;
}

Watch::~Watch() {
  selector = kAllow;
  watching = false;
}

}  // namespace attune::test
#else
namespace attune::test {

std::string Watch::unavailable_reason() { return "this build (sanitizer, processor or C library) replaces no functions"; }
void Watch::arm() {}
Watch::Watch() { watching = true; }
Watch::~Watch() { watching = false; }

}  // namespace attune::test
#endif

attune::test::Watched attune::test::Watch::total() { return watched; }
