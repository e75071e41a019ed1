#include "tuner/session/source/compile_while.hpp"

#include <algorithm>
#include <utility>

namespace attune::session {

std::optional<compile::CompileResult> compile_while(compile::CompilePool& compilers, const compile::CompileRequest& request,
                                                    const Patience& patience) {
  constexpr std::chrono::milliseconds kNone{0}, kLook{100};
  const std::uint64_t ticket = compilers.submit(request);
  for (auto wait = kNone;;) {  // what is known already is there at once
    for (auto& completed : compilers.collect(wait))
      if (completed.ticket == ticket) return std::move(completed.result);
    wait = std::clamp(patience(), kNone, kLook);
    if (wait > kNone) continue;
    compilers.abandon();
    return std::nullopt;
  }
}

}  // namespace attune::session
