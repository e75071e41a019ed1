#pragma once
#include <map>
#include <string>

#include "tuner/compile/compile_pool.hpp"
#include "tuner/measure/gpu_executor.hpp"
#include "tuner/spec/kernel_template.hpp"
#include "tuner/verify/programs.hpp"

namespace attune::session {

/// Code that nothing can be measured without: attune's own kernels, and those that a problem's answers are computed with. Compiles it and
/// gives it to the GPU worker.
class RequiredCode {
 public:
  /// Requires: both outlive this.
  RequiredCode(compile::CompilePool& compilers, measure::GpuExecutor& gpu) : compilers_(&compilers), gpu_(&gpu) {}

  /// Prepares the problem on the device; the first time attune's own kernels and the problem's are compiled side by side. Throws:
  /// CompileError, EnvironmentError (the compiler did not get to its end), and as GpuExecutor::prepare.
  void prepare(const spec::KernelTemplate& kernel, const spec::Problem& problem);
  /// Only attune's own kernels. Throws: CompileError, EnvironmentError.
  void give_support();

 private:
  /// Kept of programs that were asked for before. Empty: nothing is computed.
  [[nodiscard]] std::string cubin_of(const std::optional<verify::ReferenceProgram>& program);
  [[nodiscard]] compile::CompileRequest request_of(const verify::ReferenceProgram& program) const;

  compile::CompilePool* compilers_;
  measure::GpuExecutor* gpu_;
  bool gave_support_ = false;
  std::map<std::string, std::string> references_;  ///< cubins of programs by cubin_key
};

}  // namespace attune::session
