#pragma once
// Pools whose workers fail on request and need no NVRTC (faulty_worker_main.cpp).
#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/support/children.hpp"
#include "tuner/compile/compile_pool.hpp"

namespace attune::testing {

inline constexpr std::chrono::milliseconds kForEver{-1};
inline constexpr std::chrono::milliseconds kNow{0};

inline compile::CompilePool::Options faulty(int workers = 1) {
  compile::CompilePool::Options options;
  options.worker = ATTUNE_FAULTY_WORKER;
  options.workers = workers;
  return options;
}

inline compile::CompileRequest request(const std::string& source) { return {source, "some.cu", "sm_90", {}}; }

inline std::vector<int> worker_pids() { return test::children("worker-compile"); }

/// Collects until nothing is pending; results by ticket.
inline std::map<std::uint64_t, compile::CompileResult> collect_all(compile::CompilePool& pool) {
  std::map<std::uint64_t, compile::CompileResult> results;
  for (;;) {
    const auto done = pool.collect(kForEver);
    if (done.empty()) return results;
    for (const auto& completed : done) CHECK(results.emplace(completed.ticket, completed.result).second);
  }
}

}  // namespace attune::testing
