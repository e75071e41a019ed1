#pragma once

namespace attune::db {

/// Stands while this thread waits for a lock that another connection or process holds. What a database asks then (KeepGoing) it asks as
/// well between the steps of its own work; only this tells the two apart.
class LockWait {
 public:
  LockWait() noexcept { ++standing(); }
  ~LockWait() { --standing(); }
  LockWait(const LockWait&) = delete;
  LockWait& operator=(const LockWait&) = delete;

  [[nodiscard]] static bool now() noexcept { return standing() > 0; }

 private:
  static int& standing() noexcept {
    thread_local int count = 0;
    return count;
  }
};

}  // namespace attune::db
