#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuner/spec/kernel_template.hpp"

namespace attune::spec {

/// A figure from the literature, shown as published: of other hardware, and never measured by attune.
struct PublishedFigure {
  std::string text;      ///< "380 GB/s for 16M f32"
  std::string hardware;  ///< "A100"
  std::string source;
};

/// One published variant of a kernel: the part of the search space that is this variant.
struct Rung {
  std::string name;
  std::string why;  ///< one sentence
  Constraint where;
  /// Where more configurations are this variant, so many of them are tried, drawn at random; 0: the command's own rule.
  std::uint64_t sample = 0;
  std::vector<PublishedFigure> published;
};

/// The variants of a kernel that the literature tells apart, from the naive one up. Read from `ladder.json` beside template.json,
/// which changes no code and therefore no content hash; docs/ladder.md is its manual.
struct VariantLadder {
  std::string summary;
  std::map<std::string, std::string> defaults;  ///< types and choices that a command may leave out
  std::vector<std::string> tables;              ///< parameters that are tabulated over the sizes
  std::vector<Rung> rungs;

  /// Throws: SpecError with file, line and column: malformed, unknown keys, names that the template does not have.
  [[nodiscard]] static VariantLadder parse(const KernelTemplate& kernel, const std::string& text, const std::string& path);
  /// That of the template; nothing when it has none. Throws: SpecError.
  [[nodiscard]] static std::optional<VariantLadder> of(const KernelTemplate& kernel);
};

}  // namespace attune::spec
