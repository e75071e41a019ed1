#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tuner/spec/expression.hpp"

namespace attune::spec {

/// Throws SpecError at `position`.
[[noreturn]] void fail(const SourcePosition& position, const std::string& message);

/// The position `offset` bytes further on the same line; columns count characters, not bytes.
[[nodiscard]] SourcePosition advance(const SourcePosition& position, std::string_view text, std::size_t offset);

/// "; did you mean 'block_size'?", or nothing when nothing is near.
[[nodiscard]] std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

/// The suggestion or, when nothing is near, "; known: a, b, c".
[[nodiscard]] std::string hint(std::string_view word, const std::vector<std::string>& candidates);

/// "a, b, c"; of many words the first ones and how many more there are.
[[nodiscard]] std::string joined(const std::vector<std::string>& words);

}  // namespace attune::spec
