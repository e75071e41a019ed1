#pragma once
#include <chrono>
#include <functional>
#include <optional>

#include "tuner/compile/compile_pool.hpp"

namespace attune::session {

/// How much longer to wait for a compilation; 0 and less: no longer.
using Patience = std::function<std::chrono::milliseconds()>;

/// Has a request compiled for as long as `patience` says, which is asked some ten times a second. Nothing: it was not compiled by then, and
/// all that was being compiled is ended. A compilation can be ended only with the worker that makes it, and what it has made until then is
/// lost. What others asked for and is finished meanwhile is the pool's to keep: its `collect` does not tell them.
[[nodiscard]] std::optional<compile::CompileResult> compile_while(compile::CompilePool& compilers, const compile::CompileRequest& request,
                                                                  const Patience& patience);

}  // namespace attune::session
