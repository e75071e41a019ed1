#include "tuner/spec/kernel_name_parts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/spec/failure.hpp"
#include "tuner/spec/name_table.hpp"

namespace attune::spec {

KernelNameParts cut_kernel_name(const std::string& text, const SourcePosition& position, std::string_view example) {
  KernelNameParts parts;
  const std::size_t open = std::min(text.find('<'), text.size());
  std::string& function = parts.function = text.substr(0, open);
  while (function.ends_with(' ')) function.pop_back();
  for (std::size_t begin = 0; begin <= function.size();) {
    const std::size_t end = std::min(function.find("::", begin), function.size());
    check_identifier(function.substr(begin, end - begin), "the kernel's name", position);
    begin = end + (end < function.size() ? 2 : 1);
  }
  if (open == text.size()) return parts;
  if (!text.ends_with('>'))
    fail(position, fmt::format("the kernel '{}' has no '>' at the end of its template arguments; write e.g. {}", text, example));
  parts.list_offset = open + 1;
  parts.list = text.substr(parts.list_offset, text.size() - parts.list_offset - 1);
  return parts;
}

}  // namespace attune::spec
