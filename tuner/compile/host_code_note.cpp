#include "tuner/compile/host_code_note.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "tuner/spec/header_lines.hpp"
#include "tuner/spec/host_headers.hpp"

namespace attune::compile {
namespace {

/// "<vector>" of `cannot open source file "vector"`; empty without such a message.
std::string missing_header(const std::string& log) {
  constexpr std::string_view kMessage = "cannot open source file \"";
  const std::size_t found = log.find(kMessage);
  if (found == std::string::npos) return {};
  const std::size_t begin = found + kMessage.size();
  return fmt::format("<{}>", log.substr(begin, log.find('"', begin) - begin));
}

/// Whether what the log is about may be in a library that this header belongs to. Messages about a header have its path.
bool may_be_about(const std::string& log, bool something_missing, const std::string& header) {
  const bool of_cccl = log.find("/thrust/") != std::string::npos || log.find("/cub/") != std::string::npos;
  return spec::is_host_library(header) &&
         (of_cccl || something_missing || log.find(header.substr(1, header.size() - 2) + "(") != std::string::npos);
}

/// "stencil.cu:3". Headers of the host stand where the template has them, so that one without a file is of a source that is compiled as it
/// is.
std::string place_of(const spec::HeaderLine& line, const CompileRequest& request) {
  return fmt::format("{}:{}", line.file.empty() ? request.name : line.file.substr(1, line.file.size() - 2), line.line);
}

}  // namespace

std::string host_code_note(const CompileRequest& request, const std::string& log) {
  const std::string missing = missing_header(log);
  const std::vector<spec::HeaderLine> lines = spec::header_lines(request.source);
  const bool direct = std::any_of(lines.begin(), lines.end(),
                                  [&](const spec::HeaderLine& line) { return line.header == missing && !spec::is_replaced(missing); });
  std::string note;
  std::set<std::string> told;
  for (const spec::HeaderLine& line : lines) {
    const bool meant = line.header == missing || may_be_about(log, !missing.empty() && !direct, line.header);
    // One that is replaced is another compiler's here.
    if (!meant || spec::is_replaced(line.header) || !told.insert(line.header).second) continue;
    const bool host = spec::is_host_code(line.header);
    if (host) {
      note += fmt::format("{}: {} is host code, which NVRTC does not compile; {}\n", place_of(line, request), line.header,
                          spec::remedy_for(line.header));
    } else {
      note += fmt::format("{} is not among CUDA's headers; put the file into the template's folder and write #include \"{}\"\n",
                          line.header, line.header.substr(1, line.header.size() - 2));
    }
  }
  return note;
}

}  // namespace attune::compile
