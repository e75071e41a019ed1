#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "tuner/compile/compile_pool.hpp"
#include "tuner/spec/device_info.hpp"
#include "tuner/spec/kernel_template.hpp"
#include "tuner/verify/programs.hpp"

namespace attune::session {

/// Code that nothing can be measured without: attune's own kernels, and those that a problem's answers are computed with and its buffers
/// prepared.
class RequiredCode {
 public:
  /// Requires: both outlive this.
  RequiredCode(compile::CompilePool& compilers, const spec::DeviceInfo& device) : compilers_(&compilers), device_(&device) {}

  struct Program {
    std::string what;
    compile::CompileRequest request;
    std::string key;  ///< empty: there is none
  };
  /// What a problem needs.
  struct Programs {
    Program reference, setup;  ///< setup: the one that all configurations share
  };

  /// Have them compiled, without waiting.
  void begin_support();
  /// Throws: as verify::reference_program.
  [[nodiscard]] Programs begin(const spec::KernelTemplate& kernel, const spec::Problem& problem);
  /// Whether to wait on for what it names ("compiling ..."); asked some ten times a second. If not, all that is being compiled is ended:
  /// PreparingStopped.
  using GoesOn = std::function<bool(const std::string& doing)>;

  /// Throws: UnusableDevice, PreparingStopped.
  [[nodiscard]] const std::string& support(const GoesOn& goes_on);
  /// Returns the cubin of a program; empty: there is none to compile. Keeps a number of cubins, each for all problems that have the same
  /// program. Throws: CompileError, EnvironmentError (the compiler did not get to its end), PreparingStopped.
  [[nodiscard]] std::string cubin(const Program& program, const GoesOn& goes_on);

 private:
  [[nodiscard]] compile::CompileRequest support_request() const;
  [[nodiscard]] Program begin(const std::optional<verify::ReferenceProgram>& stated);
  [[nodiscard]] compile::CompileResult wait_for(const compile::CompileRequest& request, const std::string& what, const GoesOn& goes_on);

  compile::CompilePool* compilers_;
  const spec::DeviceInfo* device_;
  std::string support_;                          ///< empty: not compiled yet
  std::map<std::string, std::string> compiled_;  ///< cubins of programs by cubin_key
};

}  // namespace attune::session
