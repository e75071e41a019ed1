#include "tuner/session/source/required_code.hpp"

#include <fmt/core.h>

#include <chrono>
#include <utility>

#include "attune/error.hpp"
#include "tuner/session/source/backend.hpp"
#include "tuner/session/source/compile_while.hpp"

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

compile::CompileResult RequiredCode::wait_for(const compile::CompileRequest& request, const std::string& what, const GoesOn& goes_on) {
  using std::chrono::milliseconds;
  const std::string doing = "compiling " + what;
  auto result = compile_while(*compilers_, request, [&] { return goes_on(doing) ? milliseconds::max() : milliseconds(0); });
  if (!result) throw PreparingStopped(doing);
  return *std::move(result);
}

const std::string& RequiredCode::support(const GoesOn& goes_on) {
  if (!support_.empty()) return support_;
  const std::string what = "attune's own device kernels for " + device_->architecture;
  const auto compiled = wait_for(support_request(), what, goes_on);
  try {
    require_compiled(compiled, what);
  } catch (const Error& error) {
    throw UnusableDevice(error.what(), error.exit_code());
  }
  return support_ = compiled.cubin;
}

RequiredCode::Program RequiredCode::begin(const std::optional<verify::ReferenceProgram>& stated) {
  if (!stated) return {};
  Program program{stated->what, {stated->source, stated->file, device_->architecture, stated->options}, {}};
  program.key = compile::cubin_key(program.request, compilers_->nvrtc_build());
  if (!compiled_.contains(program.key)) (void)compilers_->submit(program.request);  // cubin() joins it
  return program;
}

RequiredCode::Programs RequiredCode::begin(const spec::KernelTemplate& kernel, const spec::Problem& problem) {
  return {begin(verify::reference_program(kernel, problem, *device_)), begin(verify::setup_program(kernel, problem, *device_))};
}

std::string RequiredCode::cubin(const Program& program, const GoesOn& goes_on) {
  if (program.key.empty()) return {};
  if (const auto known = compiled_.find(program.key); known != compiled_.end()) return known->second;
  const auto result = wait_for(program.request, program.what, goes_on);
  require_compiled(result, program.what);
  if (compiled_.size() == kMostPrograms) compiled_.clear();
  return compiled_.emplace(program.key, result.cubin).first->second;
}

}  // namespace attune::session
