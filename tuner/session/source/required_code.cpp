#include "tuner/session/source/required_code.hpp"

#include <fmt/core.h>

#include "attune/error.hpp"
#include "tuner/session/source/backend.hpp"

namespace attune::session {
namespace {

constexpr std::size_t kMostPrograms = 16;  // whose code is kept

/// Only what the compiler refused is a matter of the source.
void require_compiled(const compile::CompileResult& result, const std::string& what) {
  if (result.status == compile::CompileStatus::Ok) return;
  if (result.status == compile::CompileStatus::Failed)
    throw CompileError(fmt::format("failed compiling {}:\n{}", what, result.log), result.log);
  const std::string how = result.log.substr(0, result.log.find_last_not_of('\n') + 1);
  throw EnvironmentError(
      fmt::format("nothing can be measured without {}: {}; the machine may be overloaded or lack memory: give longer with "
                  "--compile-timeout, fewer --compile-workers, or run less beside it",
                  what, how));
}

}  // namespace

compile::CompileRequest RequiredCode::support_request() const {
  return {verify::support_source(), "attune_support.cu", device_->architecture, {}};
}

void RequiredCode::begin_support() { (void)compilers_->submit(support_request()); }  // support() joins it

const std::string& RequiredCode::support() {
  if (!support_.empty()) return support_;
  const auto compiled = compilers_->compile_now(support_request());
  try {
    require_compiled(compiled, "attune's own device kernels for " + device_->architecture);
  } catch (const Error& error) {
    throw UnusableDevice(error.what(), error.exit_code());
  }
  return support_ = compiled.cubin;
}

RequiredCode::Program RequiredCode::program(const std::optional<verify::ReferenceProgram>& program) const {
  if (!program) return {};
  Program made{program->what, {program->source, program->file, device_->architecture, program->options}, {}};
  made.key = compile::cubin_key(made.request, compilers_->nvrtc_build());
  return made;
}

void RequiredCode::begin(const spec::KernelTemplate& kernel, const spec::Problem& problem) {
  for (const auto& stated : {verify::reference_program(kernel, problem, *device_), verify::setup_program(kernel, problem, *device_)}) {
    const auto made = program(stated);
    if (!made.key.empty() && !compiled_.contains(made.key)) (void)compilers_->submit(made.request);
  }
}

std::string RequiredCode::compiled(const Program& program) {
  if (program.key.empty()) return {};
  if (const auto known = compiled_.find(program.key); known != compiled_.end()) return known->second;
  const auto result = compilers_->compile_now(program.request);
  require_compiled(result, program.what);
  if (compiled_.size() == kMostPrograms) compiled_.clear();
  return compiled_.emplace(program.key, result.cubin).first->second;
}

std::string RequiredCode::reference(const spec::KernelTemplate& kernel, const spec::Problem& problem) {
  return compiled(program(verify::reference_program(kernel, problem, *device_)));
}

std::string RequiredCode::setup(const spec::KernelTemplate& kernel, const spec::Problem& problem) {
  return compiled(program(verify::setup_program(kernel, problem, *device_)));
}

}  // namespace attune::session
