#pragma once
#include <doctest/doctest.h>

#include <string>

#include "attune/error.hpp"
#include "tests/support/children.hpp"
#include "tuner/measure/gpu_executor.hpp"

// An executor over fake_worker_main.cpp: what a configuration is called decides what happens to it.
namespace attune::test {

using measure::GpuExecutor;

inline GpuExecutor::Options options(int device = 0) {
  GpuExecutor::Options result;
  result.worker = ATTUNE_FAKE_GPU_WORKER;
  result.device = device;
  return result;
}

/// Of an executor; 0 while there is none.
inline int worker_pid() {
  const auto workers = children("worker-gpu");
  CHECK(workers.size() <= 1);
  return workers.empty() ? 0 : workers.front();
}

inline spec::KernelTemplate any_template() {
  return spec::KernelTemplate::parse(
      R"({"attune": 1, "name": "t", "sources": ["k.cu"], "problem": {"n": {"size": {"min": 1}}},
    "parameters": {"p": {"values": [1], "default": 1}}, "buffers": {"out": {"type": "f32", "count": "n", "output": true}},
    "launches": [{"kernel": "k", "grid": "1", "block": "32", "args": ["out"]}], "reference": "none"})",
      {{"k.cu", ""}}, "template.json");
}

inline spec::Problem problem(std::int64_t n) { return {{}, {{"n", n}}}; }

inline measure::VisitRequest request(const std::string& name) {
  measure::VisitRequest result;
  result.configuration = name;
  result.cubin_key = "key";
  result.cubin = "12345";
  result.verify = true;
  return result;
}

/// Waits for the reply to the oldest visit.
inline measure::VisitReply next_reply(GpuExecutor& executor) {
  std::optional<measure::VisitReply> reply;
  while (!reply) reply = executor.collect(std::chrono::milliseconds(100));
  return *std::move(reply);
}

/// One visit while nothing else is handed over.
inline measure::VisitReply visit(GpuExecutor& executor, const measure::VisitRequest& wanted) {
  executor.submit(wanted);
  CHECK(executor.busy());
  auto reply = next_reply(executor);
  CHECK_FALSE(executor.busy());
  return reply;
}

}  // namespace attune::test
