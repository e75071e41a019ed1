#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tuner/spec/kernel_template.hpp"

namespace attune::importing {

/// What expressions of a file may name.
struct KnownNames {
  std::vector<spec::Parameter> parameters;
  std::vector<std::string> problem_sizes;  ///< what ProblemSize[0], [1], [2] become: a size, a let
  std::vector<std::string> others;         ///< names that stay: sizes and lets
};

/// Where an expression stands.
enum class Use {
  Condition,  ///< its truth counts
  Number,
  DataSize,  ///< elements of an argument: data are the same for every configuration, and a parameter's name means the list of its values
};

struct Translation {
  std::string text;                        ///< in attune's language; as it was written, where that means the same
  bool divides = false;                    ///< by `/`, so that a fraction may come of it
  std::vector<std::string> divisors = {};  ///< what it divides by, the inner ones first; without numbers
};

/// A Python expression of a file in attune's expression language, with the same value (of a condition: the same truth) wherever Python has
/// one, read by attune's own parser. What has no counterpart is refused, with the place inside of the text and a remedy.
/// Throws: SpecError.
[[nodiscard]] Translation translate_python(std::string_view text, const spec::SourcePosition& position, const KnownNames& names, Use use);

/// The value of an expression over sizes that are numbers. Throws: SpecError at `position` when it is no integer.
[[nodiscard]] std::int64_t integer_of(const std::string& expression, const spec::SourcePosition& position,
                                      const std::vector<std::pair<std::string, std::int64_t>>& sizes);

}  // namespace attune::importing
