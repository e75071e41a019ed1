#include "tuner/compile/host_code_note.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>

#include "tuner/spec/header_lines.hpp"
#include "tuner/spec/host_headers.hpp"

namespace attune::compile {
namespace {

using Folders = std::vector<std::filesystem::path>;

/// What a message of the compiler, `FILE(LINE): text`, is about.
struct Message {
  std::string_view file;
  std::int64_t line = 0;
  std::string_view text;
};

/// Absent where the line of a log has no place.
std::optional<Message> message_of(std::string_view line) {
  const std::size_t close = line.find("): ");
  const std::size_t open = close == std::string_view::npos ? close : line.rfind('(', close);
  if (open == std::string_view::npos) return std::nullopt;
  Message message{line.substr(0, open), 0, line.substr(close + 3)};
  const auto [end, error] = std::from_chars(line.data() + open + 1, line.data() + close, message.line);
  if (error != std::errc() || end != line.data() + close) return std::nullopt;
  return message;
}

/// "<vector>" of `cannot open source file "vector"`; empty in another message.
std::string missing_header(std::string_view text) {
  for (const std::string_view words : {"cannot open source file \"", "could not open source file \""}) {
    const std::size_t found = text.find(words);
    if (found == std::string_view::npos) continue;
    const std::size_t begin = found + words.size();
    return fmt::format("<{}>", text.substr(begin, text.find('"', begin) - begin));
  }
  return {};
}

bool refuses_host_code(std::string_view text) {
  return text.find("__host__ function is not allowed") != std::string_view::npos ||
         text.find("host functions are not allowed") != std::string_view::npos;
}

bool is_in(const Folders& folders, std::string_view file) {
  return std::any_of(folders.begin(), folders.end(), [&](const std::filesystem::path& folder) {
    const std::string name = folder.string();
    return file.starts_with(name) && file.substr(name.size()).starts_with('/');
  });
}

class Note {
 public:
  Note(const CompileRequest& request, const Folders& cuda) : request_(request), cuda_(cuda), lines_(spec::header_lines(request.source)) {}

  void add(const Message& message) {
    const std::string missing = missing_header(message.text);
    if (is_in(cuda_, message.file)) {
      if (!missing.empty() || refuses_host_code(message.text)) tell_libraries();
    } else if (const spec::HeaderLine* line = including(missing, message)) {
      tell(*line);
    }
  }

  /// The compiler knows no name in cub that begins with Device, where <cub/cub.cuh> is not the whole of CUB.
  void add_device_algorithms(const std::string& log) {
    constexpr std::string_view kName = "cub::Device";
    const bool named = log.find(kName) != std::string::npos;
    const bool unknown = log.find("name followed by \"::\" must be a class") != std::string::npos;
    if (!text_.empty() || (!named && !(unknown && request_.source.find(kName) != std::string::npos))) return;
    text_ +=
        "<cub/cub.cuh> has no algorithms for the whole device (cub::Device...) here: they are host code, which NVRTC does not compile; put "
        "the host code that needs them between #ifndef __CUDACC_RTC__ and #endif\n";
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  /// "stencil.cu".
  [[nodiscard]] std::string_view file_of(const spec::HeaderLine& line) const {
    return line.file.empty() ? std::string_view(request_.name) : std::string_view(line.file).substr(1, line.file.size() - 2);
  }

  /// The line that a message about a missing header means: of lines that are joined, the compiler names the last. Null without one.
  [[nodiscard]] const spec::HeaderLine* including(const std::string& missing, const Message& message) const {
    const spec::HeaderLine* found = nullptr;
    for (const spec::HeaderLine& line : lines_) {
      const bool fits = line.header == missing && file_of(line) == message.file && line.line <= message.line;
      if (fits && (found == nullptr || line.line > found->line)) found = &line;
    }
    return found;
  }

  /// A message about a header of CUDA does not say which of the source's headers includes that one.
  void tell_libraries() {
    for (const spec::HeaderLine& line : lines_) {
      if (spec::is_host_library(line.header)) tell(line);
    }
  }

  void tell(const spec::HeaderLine& line) {
    // One that is replaced is another compiler's here.
    if (spec::is_replaced(line.header) || !told_.insert(line.header).second) return;
    // What make_source moved in front of the template's files has no place in them.
    const bool moved = line.file.empty() && request_.source.find("\n#line 1 \"") != std::string::npos;
    const std::string place = moved ? std::string() : fmt::format("{}:{}: ", file_of(line), line.line);
    if (spec::is_host_code(line.header)) {
      text_ += fmt::format("{}{} is host code, which NVRTC does not compile; {}\n", place, line.header, spec::remedy_for(line.header));
    } else {
      text_ += fmt::format("{} is not among CUDA's headers; put the file into the template's folder and write #include \"{}\"\n",
                           line.header, line.header.substr(1, line.header.size() - 2));
    }
  }

  const CompileRequest& request_;
  const Folders& cuda_;
  std::vector<spec::HeaderLine> lines_;
  std::set<std::string> told_;
  std::string text_;
};

}  // namespace

std::string host_code_note(const CompileRequest& request, const std::string& log, const Folders& include_folders) {
  Note note(request, include_folders);
  for (std::size_t begin = 0; begin < log.size();) {
    const std::size_t end = std::min(log.find('\n', begin), log.size());
    if (const auto message = message_of(std::string_view(log).substr(begin, end - begin))) note.add(*message);
    begin = end + 1;
  }
  note.add_device_algorithms(log);
  return note.text();
}

}  // namespace attune::compile
