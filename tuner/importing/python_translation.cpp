#include "tuner/importing/python_translation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/base/text.hpp"
#include "tuner/importing/python_printer.hpp"
#include "tuner/spec/failure.hpp"

namespace attune::importing {
namespace {

/// On one line, without blanks around it.
std::string on_one_line(std::string_view text) {
  std::string line(base::trimmed(text, " \n\r\t"));
  for (char& c : line) c = c == '\n' || c == '\r' || c == '\t' ? ' ' : c;
  return line;
}

}  // namespace

Translation translate_python(std::string_view text, const spec::SourcePosition& position, const KnownNames& names, Use use) {
  const PythonNode tree = parse_python(text, position);
  PythonPrinter printer(text, position, names, use);
  const Piece piece = printer.print(tree, use == Use::Condition ? Asked::Truth : Asked::Value);
  const std::string original = on_one_line(text);
  const bool as_written = !printer.rewritten() && !original.starts_with("lambda");
  Translation translation{as_written ? original : piece.text, printer.divides(), {}};
  for (const std::string& divisor : printer.divisors()) {
    auto& known = translation.divisors;
    if (std::find(known.begin(), known.end(), divisor) == known.end()) known.push_back(divisor);
  }
  try {
    static_cast<void>(spec::Expression::parse(translation.text, position));
  } catch (const SpecError&) {
    if (!as_written)
      spec::fail(position, fmt::format("\"{}\" became \"{}\", which attune does not read; write it more simply", text, piece.text));
    translation.text = piece.text;  // the spelling that attune has: numbers to other bases, strings
    static_cast<void>(spec::Expression::parse(translation.text, position));
  }
  return translation;
}

std::int64_t integer_of(const std::string& expression, const spec::SourcePosition& position,
                        const std::vector<std::pair<std::string, std::int64_t>>& sizes) {
  const spec::Scope scope = [&](std::string_view name) -> std::optional<spec::Value> {
    const auto found = std::find_if(sizes.begin(), sizes.end(), [&](const auto& size) { return size.first == name; });
    return found == sizes.end() ? std::nullopt : std::optional<spec::Value>(found->second);
  };
  return spec::Expression::parse(expression, position).integer(scope);
}

}  // namespace attune::importing
