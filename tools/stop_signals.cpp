#include "tools/stop_signals.hpp"

#include <csignal>

#include "attune/error.hpp"

namespace attune::tools {
namespace {

volatile std::sig_atomic_t g_stop = 0;

extern "C" void on_stop_signal(int signal) {
  static_cast<void>(signal);
  g_stop = 1;
  // A second one of either kind ends the process at once; what was committed is safe either way.
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

}  // namespace

void stop_on_signals() {
  std::signal(SIGINT, on_stop_signal);
  std::signal(SIGTERM, on_stop_signal);
}

void end_on_signals() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  if (stop_asked()) throw Error("interrupted", ExitCode::Interrupted);
}

bool stop_asked() { return g_stop != 0; }

}  // namespace attune::tools
