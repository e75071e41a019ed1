#pragma once
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "tuner/base/cpus.hpp"

namespace attune::tools {

/// How far WorkAhead goes. All at least 1.
struct AheadLimits {
  std::size_t threads = 1;
  std::size_t results = 1;  ///< begun and not taken
  std::size_t bytes = 1;    ///< of results that wait to be taken; what the threads are at comes on top
};

/// Makes results in threads of its own, ahead of the one thread that takes them in their order, to which these threads give way: what
/// is taken pauses and hurries, and whoever takes waits for nothing that could have been made meanwhile.
/// Result: movable, with `std::size_t bytes() const`, about what it holds.
template <class Result>
class WorkAhead {
 public:
  /// `make` makes the result of a number below `count`; several threads call it at a time. Throws: std::system_error without threads.
  WorkAhead(std::size_t count, AheadLimits limits, std::function<Result(std::size_t)> make)
      : count_(count), limits_(limits), make_(std::move(make)) {
    for (std::size_t i = 0; i < limits.threads && i < count; ++i)
      threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  }
  WorkAhead(const WorkAhead&) = delete;
  WorkAhead& operator=(const WorkAhead&) = delete;

  /// Whether the next is there, by `timeout` at the latest. Requires: not all have been taken.
  [[nodiscard]] bool wait_for(std::chrono::nanoseconds timeout) {
    std::unique_lock lock(mutex_);
    return made_one_.wait_for(lock, timeout, [&] { return made_.contains(taken_); });
  }

  /// The next, when it is there. Requires: not all have been taken. Throws: what making it threw; the next call gives the one after it.
  [[nodiscard]] Result take() {
    std::unique_lock lock(mutex_);
    made_one_.wait(lock, [&] { return made_.contains(taken_); });
    Made made = std::move(made_.extract(taken_++).mapped());
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
    [[nodiscard]] std::size_t bytes() const { return result ? result->bytes() : 0; }
  };

  void work(const std::stop_token& stop) {
    base::give_way_to_other_threads();
    std::unique_lock lock(mutex_);
    while (true) {
      has_room_.wait(lock, stop, [&] { return begun_ == count_ || (begun_ - taken_ < limits_.results && bytes_ < limits_.bytes); });
      if (stop.stop_requested() || begun_ == count_) return;
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
      made_.emplace(number, std::move(made));
      made_one_.notify_one();
    }
  }

  const std::size_t count_;
  const AheadLimits limits_;
  const std::function<Result(std::size_t)> make_;
  std::mutex mutex_;
  std::condition_variable_any has_room_, made_one_;
  std::size_t begun_ = 0, taken_ = 0, bytes_ = 0;
  std::map<std::size_t, Made> made_;
  std::vector<std::jthread> threads_;  ///< last: they use all of the above until they are joined
};

}  // namespace attune::tools
