#pragma once
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tuner/space/search_space.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::simulate {

/// A search space that somebody measured. It is exactly the set of configurations in the file, those that failed included; a parameter's
/// values are those that occur there, ascending.
struct RecordedSpace {
  std::string file;   ///< as it was named
  std::string label;  ///< which of several in the file: the problem's text; empty where a file of this format holds one
  std::vector<spec::Parameter> parameters;
  space::SearchSpace space;
  /// By ordinal; nothing for a configuration that failed. Smaller is better. In the file's own unit (Kernel Tuner's caches have
  /// milliseconds, attune's recordings microseconds): only ratios matter, and what is printed shall be what the file says.
  std::vector<std::optional<double>> costs;
  std::vector<std::string> failures;  ///< by ordinal, why it failed in the file's words; empty where it did not

  /// {"block_size":256,...}: sorted keys, no spaces.
  [[nodiscard]] std::string configuration_text(space::Ordinal ordinal) const;
};

/// The spaces of a file: a cache of Kernel Tuner (also of a run that was interrupted), results in the T4 format, or a recording of
/// attune, which may hold several; plain or packed by gzip or zstd. The contents tell which, whatever the file's name.
/// Throws: UsageError when there is no such file; SpecError naming the file, where it is damaged, as far as that is known, and what to do.
[[nodiscard]] std::vector<RecordedSpace> read_recorded_spaces(const std::filesystem::path& path);
/// The same of a text. `path` is what errors name.
[[nodiscard]] std::vector<RecordedSpace> parse_recorded_spaces(const std::string& text, const std::string& path);

}  // namespace attune::simulate
