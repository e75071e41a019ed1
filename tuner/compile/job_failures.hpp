#pragma once
#include <chrono>
#include <string>

#include "tuner/compile/compiler.hpp"

namespace attune::compile {

/// What became of a job that a worker did not bring to its end. `took`: of the clock. Each says in its log what, and why.
[[nodiscard]] CompileResult timed_out(const CompileRequest& request, std::chrono::milliseconds deadline,
                                      std::chrono::duration<double> took);
/// `how`: the last worker's end; `last_words`: what it printed, as quoted() gives it.
[[nodiscard]] CompileResult lost(const CompileRequest& request, int workers, const std::string& how, const std::string& last_words);
/// Why no worker can be had: `times` one after the other ended before they were ready. `how` and `last_words` as of lost().
[[nodiscard]] std::string cannot_start(const std::string& worker, int times, const std::string& how, const std::string& last_words);
/// What a worker printed before its end, e.g. "LLVM ERROR: out of memory", in words that follow others: NVRTC has no other way to tell why
/// it aborts. Empty when it printed nothing.
[[nodiscard]] std::string quoted(std::string output);

}  // namespace attune::compile
