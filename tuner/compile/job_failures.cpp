#include "tuner/compile/job_failures.hpp"

#include <fmt/core.h>

namespace attune::compile {
namespace {

std::string describe(const CompileRequest& request) {
  return fmt::format("failed compiling {} for {}", request.name, request.architecture);
}

}  // namespace

CompileResult timed_out(const CompileRequest& request, std::chrono::milliseconds deadline, std::chrono::duration<double> took) {
  CompileResult result;
  result.status = CompileStatus::TimedOut;
  result.compile_ms = 1000 * took.count();
  const std::string in_all = took > 2 * deadline ? fmt::format(" of processor time, nor after {:.3g} s in all", took.count()) : "";
  result.log = fmt::format("{}: not finished after {} s{}; the compile worker was killed\n", describe(request),
                           std::chrono::duration<double>(deadline).count(), in_all);
  return result;
}

CompileResult lost(const CompileRequest& request, int workers, const std::string& how, const std::string& last_words) {
  CompileResult result;
  result.status = CompileStatus::Crashed;
  result.log = fmt::format("{}: lost the compile worker {} times, last: {}{}\n", describe(request), workers, how, last_words);
  return result;
}

std::string cannot_start(const std::string& worker, int times, const std::string& how, const std::string& last_words) {
  return fmt::format(
      "failed starting compile worker {}: lost {} times before it was ready, last: {}{}; check that the file is this build's attune and can "
      "run here",
      worker, times, how, last_words);
}

std::string quoted(std::string output) {
  while (!output.empty() && output.back() == '\n') output.pop_back();
  return output.empty() ? output : fmt::format(", having printed \"{}\"", output);
}

}  // namespace attune::compile
