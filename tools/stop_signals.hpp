#pragma once

namespace attune::tools {

/// From now on Ctrl-C and SIGTERM only make `stop_asked` true; a second one ends the process at once.
void stop_on_signals();
[[nodiscard]] bool stop_asked();

}  // namespace attune::tools
