#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attune/error.hpp"
#include "tools/default_limits.hpp"
#include "tools/template_sample.hpp"
#include "tuner/compile/compile_pool.hpp"
#include "tuner/spec/device_info.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::tools {

struct CheckOptions {
  std::string folder;
  std::string architecture = "sm_90";
  bool json_output = false;
  bool verbose = false;
  std::uint64_t sample = 0;  ///< so many configurations at random
  std::uint64_t seed = 1;
  std::string configuration;  ///< one that the caller names

  [[nodiscard]] bool samples() const { return sample > 0 || !configuration.empty(); }
};

struct CheckedRung {
  std::string name;
  std::uint64_t configurations = 0;
};

struct CheckedLadder {
  std::vector<CheckedRung> rungs;
  std::uint64_t planned = 0;  ///< configurations that `attune ladder` tries at most
};

/// What the check of one problem came to.
struct CheckedProblem {
  spec::Problem problem;
  std::uint64_t space_size = 0, cartesian_size = 0, different = 0;
  std::string emptied_by;             ///< the condition that leaves nothing
  spec::Configuration configuration;  ///< the default
  bool default_valid = false;
  DefaultLimits limits;     ///< of the default
  std::string unbound;      ///< why the default's launches cannot be made
  std::string unbound_log;  ///< of the compiler, where that is why
  CheckedLadder ladder;
  compile::CompileResult compiled;
  std::optional<compile::CompileResult> reference;  ///< its own code, where it has one
  std::vector<spec::Configuration> chosen;          ///< that are compiled and bound besides the default
  std::vector<SampledConfiguration> sample;

  [[nodiscard]] bool kernels_compile() const { return compiled.status == compile::CompileStatus::Ok; }
  [[nodiscard]] bool compiles() const { return kernels_compile() && !reference_fails(); }
  [[nodiscard]] bool reference_fails() const { return reference && reference->status != compile::CompileStatus::Ok; }
  /// Whether the default's code fails for another reason than a limit of shared memory.
  [[nodiscard]] bool has_errors() const;
  /// Whether dispatch has something to run where this problem was not tuned.
  [[nodiscard]] bool default_runs() const { return default_valid && limits.exceeded.empty(); }
  /// Ok: it can be tuned.
  [[nodiscard]] ExitCode outcome() const;
};

/// What is checked when the caller names no problem: 2^20 for a lone size, 2^10 for each of several and for one whose 2^20 is more than a
/// launch can have (a square's side).
[[nodiscard]] spec::Problem default_problem(const spec::KernelTemplate& kernel, const spec::DeviceInfo& device);

/// Throws: SpecError, space::BuildStopped; UsageError for a configuration that the caller names and that is none of the space.
[[nodiscard]] CheckedProblem check_problem(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& device,
                                           const CheckOptions& options, compile::CompilePool& pool);

}  // namespace attune::tools
