#pragma once
#include <chrono>
#include <functional>
#include <thread>

namespace attune::test {

/// Waits until `condition` holds; false when it does not within `most`.
[[nodiscard]] inline bool wait_until(const std::function<bool()>& condition, std::chrono::milliseconds most = std::chrono::seconds(60)) {
  const auto end = std::chrono::steady_clock::now() + most;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace attune::test
