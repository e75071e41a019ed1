#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tuner/compile/compile_pool.hpp"
#include "tuner/measure/gpu_executor.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::test {

/// The `attune` executable: $ATTUNE_WORKER where the build moved to another machine, else that of this build.
std::filesystem::path attune_executable();

/// A template of a test's own: template.json's text and one source, "kernel.cu".
spec::KernelTemplate make_template(const std::string& json, const std::string& source);

/// Compile workers and an executor, shared by the test cases; workers are the real `attune` executable.
class Lab {
 public:
  static Lab& get();

  [[nodiscard]] std::string cubin(const std::string& source);
  [[nodiscard]] compile::CompilePool& compilers() noexcept { return *compilers_; }
  /// The shared one, cold and in graphs.
  [[nodiscard]] measure::GpuExecutor& executor() noexcept { return *executor_; }
  [[nodiscard]] std::unique_ptr<measure::GpuExecutor> make_executor(const measure::Policy& policy);

  /// Compiles the reference and the shared setup when there are such, and prepares the problem.
  void prepare(measure::GpuExecutor& executor, const spec::KernelTemplate& kernel, const spec::Problem& problem);
  [[nodiscard]] measure::VisitRequest request(const spec::KernelTemplate& kernel, const spec::Problem& problem,
                                              const spec::Configuration& configuration);
  /// Submits and waits.
  [[nodiscard]] static measure::VisitReply visit(measure::GpuExecutor& executor, const measure::VisitRequest& request);

 private:
  Lab();
  ~Lab();
  std::filesystem::path cache_;  ///< of compiled kernels; removed at the end
  std::unique_ptr<compile::CompilePool> compilers_;
  std::string support_cubin_;
  std::unique_ptr<measure::GpuExecutor> executor_;
};

/// The configuration with one parameter set to the value of this text.
spec::Configuration with(const spec::KernelTemplate& kernel, const std::string& parameter, const std::string& value);

double median(std::vector<double> values);

}  // namespace attune::test
