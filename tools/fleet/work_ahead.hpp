#pragma once
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "attune/error.hpp"
#include "tuner/base/cpus.hpp"

namespace attune::tools {

/// How far WorkAhead goes. All at least 1.
struct AheadLimits {
  std::size_t threads = 1;
  std::size_t results = 1;  ///< begun and not taken
  std::size_t bytes = 1;    ///< of results that wait to be taken; what the threads are at comes on top
};

/// Makes results in threads of its own, ahead of the one thread that takes them in their order, to which these threads give way
/// (base::give_way). They go on while that one does something else, as far as the limits let them.
/// Result: movable, with `std::size_t bytes() const`, about what it holds.
template <class Result>
class WorkAhead {
 public:
  /// `make` makes the result of a number below `count`; several threads call it at a time. Where the system refuses some of the threads,
  /// the others do it. Throws: EnvironmentError when it refuses all.
  WorkAhead(std::size_t count, AheadLimits limits, std::function<Result(std::size_t)> make)
      : limits_(limits), make_(std::move(make)), made_(count) {
    threads_.reserve(std::min(limits.threads, count));
    try {
      while (threads_.size() < std::min(limits.threads, count)) threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
    } catch (const std::system_error& refused) {
      if (threads_.empty())
        throw EnvironmentError(fmt::format("failed starting a thread: {}; raise the limit (ulimit -u)", refused.what()));
    }
  }
  WorkAhead(const WorkAhead&) = delete;
  WorkAhead& operator=(const WorkAhead&) = delete;
  /// Waits for the results that are being made; no other is begun.
  ~WorkAhead() {
    for (auto& thread : threads_) thread.request_stop();  // all of them, before the first is joined
  }

  /// Whether the next is there, by `timeout` at the latest. Requires: not all have been taken.
  [[nodiscard]] bool wait_for(std::chrono::nanoseconds timeout) {
    std::unique_lock lock(mutex_);
    return made_one_.wait_for(lock, timeout, [&] { return made_[taken_].there(); });
  }

  /// The next, when it is there. Requires: not all have been taken. Throws: what making it threw; the next call gives the one after it.
  [[nodiscard]] Result take() {
    std::unique_lock lock(mutex_);
    made_one_.wait(lock, [&] { return made_[taken_].there(); });
    Made made = std::exchange(made_[taken_++], {});
    bytes_ -= made.bytes();
    lock.unlock();
    has_room_.notify_all();
    if (made.failure) std::rethrow_exception(made.failure);
    return std::move(*made.result);
  }

 private:
  struct Made {
    std::optional<Result> result;
    std::exception_ptr failure;
    [[nodiscard]] bool there() const { return result || failure; }
    [[nodiscard]] std::size_t bytes() const { return result ? result->bytes() : 0; }
  };

  void work(const std::stop_token& stop) {
    base::give_way();
    std::unique_lock lock(mutex_);
    while (true) {
      has_room_.wait(lock, stop, [&] { return begun_ == made_.size() || (begun_ - taken_ < limits_.results && bytes_ < limits_.bytes); });
      if (stop.stop_requested() || begun_ == made_.size()) return;
      const std::size_t number = begun_++;
      lock.unlock();
      Made made;
      try {
        made.result.emplace(make_(number));
      } catch (...) {
        made.failure = std::current_exception();
      }
      lock.lock();
      bytes_ += made.bytes();
      made_[number] = std::move(made);
      made_one_.notify_one();
    }
  }

  const AheadLimits limits_;
  const std::function<Result(std::size_t)> make_;
  std::mutex mutex_;
  std::condition_variable_any has_room_, made_one_;
  std::size_t begun_ = 0, taken_ = 0, bytes_ = 0;
  std::vector<Made> made_;             ///< by number; one is there from its making to its taking
  std::vector<std::jthread> threads_;  ///< last: they use all of the above until they are joined
};

}  // namespace attune::tools
