#pragma once
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tuner/verify/call.hpp"
#include "tuner/verify/verifier.hpp"
#include "tuner/worker/gpu_problem.hpp"

namespace attune::worker {

/// The calls that a sample times on one group of windows.
struct Batch {
  std::optional<gpu::Graph> graph;  ///< LaunchMode::Graph only
  int calls = 0;                    ///< 0: never timed
};

/// A configuration of the current problem, bound to its module and scratch; its batches once it was timed.
struct Prepared {
  std::string text;
  spec::Configuration configuration;
  std::shared_ptr<const gpu::Module> module;
  spec::LaunchPlan plan;
  verify::Call call;
  verify::Untimed untimed;
  verify::BufferLayout scratch_layout;
  gpu::Buffer scratch;  ///< of the launches, behind it that of setup and check
  bool verified = false;
  std::vector<Batch> batches;  ///< one for each group of windows
  bool calibrated = false;     ///< the calls are what a sample needs; else one is the short batch of a configuration that was dropped
  double hopeless_us = 0;      ///< of Timer::arm
  int first_window = 0;        ///< where a batch starts in the pool
  std::vector<verify::Addresses> windows;  ///< data buffers of each window and this configuration's scratch

  /// As the verifier takes it.
  [[nodiscard]] verify::TimedCandidate timed() { return {plan, call, windows.front(), untimed}; }
  /// Per sample, over all groups.
  [[nodiscard]] int calls() const;
  /// Zeroes the scratch of `zero_once` and `none` buffers alike.
  void clear_scratch(verify::Support& support) const;
};

/// Modules by cubin key and prepared configurations, the least recently used dropped first: later visits of a
/// configuration cost no loading, capturing or calibrating.
class PreparedCache {
 public:
  /// The modules stay: they belong to no problem.
  void forget_configurations() { configurations_.clear(); }
  [[nodiscard]] bool holds(const std::string& key) const;
  /// Unloads a module that no configuration uses, so that it is loaded to another address when it is needed again.
  void unload(const std::string& key);
  /// The `count` newest configurations stay, whatever room they take: somebody points to them.
  void keep_newest(std::size_t count) noexcept { kept_ = count; }
  /// The module of `key`, loaded from `cubin` when it is not there. Throws: UsageError (neither), CudaError.
  std::shared_ptr<const gpu::Module> module(const std::string& key, const std::string& cubin);
  /// Throws: SpecError (LimitError among them), EnvironmentError (scratch), CudaError, Error (arguments).
  Prepared& configuration(const std::string& text, const std::shared_ptr<const gpu::Module>& module, GpuProblem& problem,
                          verify::Support& support);
  /// Keys whose modules were unloaded since the last call.
  [[nodiscard]] std::vector<std::string> take_dropped() { return std::exchange(dropped_, {}); }

 private:
  void trim();

  struct Loaded {
    std::string key;
    std::shared_ptr<const gpu::Module> module;
  };
  std::list<Prepared> configurations_;  ///< most recently used first
  std::list<Loaded> modules_;           ///< likewise
  std::vector<std::string> dropped_;
  std::size_t kept_ = 0;
};

}  // namespace attune::worker
