// A program that tunes on a miss: without the command there is no such Runtime. It needs no GPU, as nothing is launched.
#include <attune/runtime.hpp>
#include <cstdio>

int main() {
  attune::Options options;
  options.on_miss = attune::OnMiss::TuneNow;
  try {
    const attune::Runtime runtime(options);
    std::puts("tunes on a miss");
    return 0;
  } catch (const attune::Error& error) {
    std::puts(error.what());
    return static_cast<int>(error.exit_code());
  }
}
