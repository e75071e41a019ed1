// A compile worker and nothing else, so that tests of compiling need no `attune` executable. Ignores its arguments.
#include <fmt/core.h>

#include "attune/error.hpp"
#include "tuner/compile/compiler.hpp"

int main() {
  try {
    return attune::compile::compile_worker_main();
  } catch (const attune::Error& error) {
    fmt::print(stderr, "compile worker: {}\n", error.what());
    return static_cast<int>(error.exit_code());
  }
}
