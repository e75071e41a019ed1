#pragma once

namespace attune::tools {

/// From now on Ctrl-C and SIGTERM only make `stop_asked` true; a second one ends the process at once.
void stop_on_signals();
[[nodiscard]] bool stop_asked();
/// From now on they end the process at once again: for what cannot ask. Throws: Error(Interrupted) when one came before.
void end_on_signals();

}  // namespace attune::tools
