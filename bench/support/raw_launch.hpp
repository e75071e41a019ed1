#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "attune/runtime.hpp"
#include "tuner/gpu/handles.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::bench {

/// A problem of a template, and a folder to find that template in.
struct LaunchCase {
  std::string template_name;
  std::map<std::string, std::string> choices;
  std::int64_t n = 0;
  std::vector<std::filesystem::path> templates;
};

/// The kernel of a plan as a program would launch it that has no dispatcher: the very same code, geometry and arguments
/// through one cuLaunchKernelEx, everything prepared beforehand.
class RawLaunch {
 public:
  /// `configuration`: Decision::configuration. `arguments` and `workspace` as for Plan::launch. Threads that launch the same problem share
  /// `code`, as they share a plan's: the driver's launches of one function by several threads contend for it. Throws: UsageError when the
  /// plan is more than one launch.
  RawLaunch(const LaunchCase& problem, const std::string& configuration, const std::vector<Argument>& arguments, CUdeviceptr workspace,
            std::shared_ptr<const gpu::Module> code);
  RawLaunch(const RawLaunch&) = delete;
  RawLaunch& operator=(const RawLaunch&) = delete;

  /// Requires: `stream` of the context that was current. One thread at a time.
  [[nodiscard]] CUresult operator()(CUstream stream) noexcept {
    config_.hStream = stream;
    return launch_(&config_, function_.handle, parameters_.data(), nullptr);
  }
  [[nodiscard]] std::string kernel_name() const { return function_.name; }
  [[nodiscard]] const CUlaunchConfig& config() const { return config_; }

 private:
  decltype(&::cuLaunchKernelEx) launch_;
  std::shared_ptr<const gpu::Module> code_;
  gpu::Function function_;
  CUlaunchConfig config_{};
  std::array<CUlaunchAttribute, 2> attributes_{};
  std::vector<std::uint64_t> values_;
  std::vector<void*> parameters_;
};

/// The code of a configuration, loaded in the current context.
[[nodiscard]] std::shared_ptr<const gpu::Module> load_code(const LaunchCase& problem, const std::string& configuration);

}  // namespace attune::bench
