#pragma once

namespace CLI {
class App;
}

namespace attune::tools {

/// Has every option of every command that names a database, or a file or folder to write, refuse an empty name: wrong usage, exit code 2.
/// A script's variable may be unset, and what takes the place of no option then, the user's own database, is what nobody named. So is a
/// file with the name of the next option, which CLI11 takes for the value of `--db=`.
/// Requires: every command is in `app`.
void refuse_empty_files(CLI::App& app);

}  // namespace attune::tools
