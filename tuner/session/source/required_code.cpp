#include "tuner/session/source/required_code.hpp"

#include <fmt/core.h>

#include "attune/error.hpp"
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
  require_compiled(compiled, "attune's own device kernels for " + device_->architecture);
  return support_ = compiled.cubin;
}

std::string RequiredCode::reference(const spec::KernelTemplate& kernel, const spec::Problem& problem) {
  const auto program = verify::reference_program(kernel, problem, *device_);
  if (!program) return {};
  const compile::CompileRequest request{program->source, program->file, device_->architecture, program->options};
  const std::string key = compile::cubin_key(request, compilers_->nvrtc_build());
  if (const auto known = references_.find(key); known != references_.end()) return known->second;
  const auto compiled = compilers_->compile_now(request);
  require_compiled(compiled, program->what);
  if (references_.size() == kMostReferences) references_.clear();
  return references_.emplace(key, compiled.cubin).first->second;
}

}  // namespace attune::session
