#pragma once
#include <sched.h>

#include <atomic>
#include <mutex>

namespace attune::fake_cuda {

/// Tells the processor that this is a wait.
inline void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// A lock that never asks the kernel, for launches in threads that tests forbid every system call.
class SpinLock {
 public:
  void lock() noexcept {
    while (busy_.test_and_set(std::memory_order_acquire)) pause();
  }
  void unlock() noexcept { busy_.clear(std::memory_order_release); }

 private:
  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
};

/// Many launches at once, or one other call alone. Entering for a launch is a system call only while another call is
/// inside; nested entries of one thread are of the other kind's.
class Gate {
 public:
  void enter_shared() noexcept {
    for (;;) {
      launches_.fetch_add(1);
      if (!alone_.load()) return;
      launches_.fetch_sub(1);
      while (alone_.load()) ::sched_yield();
    }
  }
  void leave_shared() noexcept { launches_.fetch_sub(1); }
  void enter_alone() {
    mutex_.lock();
    if (depth_++ > 0) return;
    alone_.store(true);
    while (launches_.load() != 0) ::sched_yield();
  }
  void leave_alone() noexcept {
    if (--depth_ == 0) alone_.store(false);
    mutex_.unlock();
  }

 private:
  std::atomic<int> launches_{0};
  std::atomic<bool> alone_{false};
  std::recursive_mutex mutex_;
  int depth_ = 0;  ///< of the thread that holds the mutex
};

struct Shared {
  explicit Shared(Gate& its_gate) noexcept : gate(its_gate) { gate.enter_shared(); }
  Shared(const Shared&) = delete;
  ~Shared() { gate.leave_shared(); }
  Gate& gate;
};

struct Exclusive {
  explicit Exclusive(Gate& its_gate) : gate(its_gate) { gate.enter_alone(); }
  Exclusive(const Exclusive&) = delete;
  ~Exclusive() { gate.leave_alone(); }
  Gate& gate;
};

}  // namespace attune::fake_cuda
