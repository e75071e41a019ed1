#pragma once
#include <string>

namespace attune::tools {

enum class LogLength { FirstErrors, Whole };

/// A compiler's log as people read it: first what stands behind it of where the fault is and how it is mended, then the errors. Of a long
/// log that are the first ones, and a line says how many lines were left out and that `--verbose` shows them. No line end behind it.
[[nodiscard]] std::string shown_log(const std::string& log, LogLength length);

/// The same in one line: how it is mended where the log says that, and the first line that says "error", else the first of all.
[[nodiscard]] std::string first_reason(const std::string& log);

}  // namespace attune::tools
