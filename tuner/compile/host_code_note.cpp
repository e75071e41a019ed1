#include "tuner/compile/host_code_note.hpp"

#include <fmt/core.h>

#include <set>
#include <string_view>

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

/// Messages about a header have its path.
bool is_about_cub_or_thrust(const std::string& log) {
  return log.find("/thrust/") != std::string::npos || log.find("/cub/") != std::string::npos;
}

/// "stencil.cu:3". Headers of the host stand where the template has them, so that one without a file is of a source that is compiled as it
/// is.
std::string place_of(const spec::HeaderLine& line, const CompileRequest& request) {
  return fmt::format("{}:{}", line.file.empty() ? request.name : line.file.substr(1, line.file.size() - 2), line.line);
}

}  // namespace

std::string host_code_note(const CompileRequest& request, const std::string& log) {
  const std::string missing = missing_header(log);
  const bool in_library = is_about_cub_or_thrust(log);
  if (missing.empty() && !in_library) return {};
  std::string note;
  std::set<std::string> told;
  for (const spec::HeaderLine& line : spec::header_lines(request.source)) {
    const bool host = spec::is_host_code(line.header);
    const bool meant = line.header == missing || (in_library && host && spec::is_of_cub_or_thrust(line.header));
    if (!meant || !told.insert(line.header).second) continue;
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
