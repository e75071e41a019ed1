#include "tuner/spec/failure.hpp"

#include <fmt/format.h>

#include "tuner/base/text.hpp"

namespace attune::spec {

void fail(const SourcePosition& position, const std::string& message) {
  throw SpecError(position.file, position.line, position.column, message);
}

SourcePosition advance(const SourcePosition& position, std::string_view text, std::size_t offset) {
  SourcePosition moved = position;
  for (const char c : text.substr(0, offset)) {
    if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) ++moved.column;  // UTF-8 continuation bytes take no column
  }
  return moved;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.size() < 2) return {};  // any letter is one edit from any other
  const std::string near = base::closest(word, candidates);
  return near.empty() ? std::string() : fmt::format("; did you mean '{}'?", near);
}

std::string hint(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string near = suggestion(word, candidates);
  return near.empty() && !candidates.empty() ? fmt::format("; known: {}", joined(candidates)) : near;
}

std::string joined(const std::vector<std::string>& words) {
  constexpr std::size_t kMostNamed = 100;
  if (words.size() <= kMostNamed) return fmt::format("{}", fmt::join(words, ", "));
  return fmt::format("{} and {} more", fmt::join(words.begin(), words.begin() + kMostNamed, ", "), words.size() - kMostNamed);
}

}  // namespace attune::spec
