#include "tools/compile_log.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace attune::tools {
namespace {

using LogLines = std::vector<std::string>;

constexpr std::size_t kShortLogLines = 20, kShownErrors = 3;

bool contains(std::string_view line, std::string_view words) { return line.find(words) != std::string_view::npos; }

/// Empty lines at the end are none.
LogLines lines_of(const std::string& log) {
  LogLines lines;
  for (std::size_t begin = 0; begin < log.size();) {
    const std::size_t end = std::min(log.find('\n', begin), log.size());
    lines.push_back(log.substr(begin, end - begin));
    begin = end + 1;
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

/// A log in its two parts. NVRTC ends its errors with their number; what stands behind that was added, and says how to mend them.
struct LogParts {
  LogLines errors, remedies;
};

LogParts parts_of_log(const std::string& log) {
  LogParts parts{lines_of(log), {}};
  LogLines& lines = parts.errors;
  const auto last =
      std::find_if(lines.rbegin(), lines.rend(), [](const auto& line) { return contains(line, " detected in the compilation of "); });
  if (last == lines.rend()) return parts;
  for (auto line = last.base(); line != lines.end(); ++line) {
    if (!line->empty() && *line != "Compilation terminated.") parts.remedies.push_back(*line);
  }
  lines.erase(last.base(), lines.end());
  return parts;
}

bool begins_error(std::string_view line) {
  return contains(line, "): error") || contains(line, "): catastrophic error") || line.starts_with("ptxas error") ||
         line.starts_with("ptxas fatal");
}

bool begins_message(std::string_view line) {
  return begins_error(line) || contains(line, "): warning") || contains(line, "): remark") || line.starts_with("ptxas ");
}

/// The first errors with the lines that belong to them.
LogLines first_errors(const LogLines& lines) {
  LogLines kept;
  std::size_t errors = 0;
  bool in_error = false;
  for (const auto& line : lines) {
    if (begins_message(line)) in_error = begins_error(line);
    if (begins_error(line) && ++errors > kShownErrors) break;
    if (in_error) kept.push_back(line);
  }
  while (!kept.empty() && kept.back().empty()) kept.pop_back();
  return kept;
}

}  // namespace

std::string shown_log(const std::string& log, LogLength length) {
  const LogParts parts = parts_of_log(log);
  LogLines shown = parts.remedies;
  const bool is_long = length == LogLength::FirstErrors && parts.errors.size() > kShortLogLines;
  const LogLines first = is_long ? first_errors(parts.errors) : LogLines();
  const LogLines& errors = first.empty() ? parts.errors : first;  // of a long log in another form nothing is left out
  shown.insert(shown.end(), errors.begin(), errors.end());
  if (errors.size() < parts.errors.size())
    shown.push_back(fmt::format("({} further lines of the compiler; --verbose shows them)", parts.errors.size() - errors.size()));
  std::string text;
  for (const auto& line : shown) text += (text.empty() ? "" : "\n") + line;
  return text;
}

std::string first_reason(const std::string& log) {
  const LogParts parts = parts_of_log(log);
  if (parts.errors.empty()) return {};
  const auto error = std::find_if(parts.errors.begin(), parts.errors.end(), [](const auto& line) { return contains(line, "error"); });
  const std::string& first = error == parts.errors.end() ? parts.errors.front() : *error;
  return parts.remedies.empty() ? first : fmt::format("{} (the first error: {})", parts.remedies.front(), first);
}

}  // namespace attune::tools
