#include "tuner/session/source/required_code.hpp"

#include <fmt/core.h>

#include "attune/error.hpp"
#include "tuner/session/source/backend.hpp"
#include "tuner/verify/programs.hpp"

namespace attune::session {
namespace {

constexpr std::size_t kMostReferences = 16;  // whose code is kept

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

RequiredCode::Reference RequiredCode::reference_of(const spec::KernelTemplate& kernel, const spec::Problem& problem) const {
  const auto program = verify::reference_program(kernel, problem, *device_);
  if (!program) return {};
  Reference reference{program->what, {program->source, program->file, device_->architecture, program->options}, {}};
  reference.key = compile::cubin_key(reference.request, compilers_->nvrtc_build());
  return reference;
}

void RequiredCode::begin_reference(const spec::KernelTemplate& kernel, const spec::Problem& problem) {
  const auto reference = reference_of(kernel, problem);
  if (!reference.key.empty() && !references_.contains(reference.key)) (void)compilers_->submit(reference.request);
}

std::string RequiredCode::reference(const spec::KernelTemplate& kernel, const spec::Problem& problem) {
  const auto reference = reference_of(kernel, problem);
  if (reference.key.empty()) return {};
  if (const auto known = references_.find(reference.key); known != references_.end()) return known->second;
  const auto compiled = compilers_->compile_now(reference.request);
  require_compiled(compiled, reference.what);
  if (references_.size() == kMostReferences) references_.clear();
  return references_.emplace(reference.key, compiled.cubin).first->second;
}

}  // namespace attune::session
