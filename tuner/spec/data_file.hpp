#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/spec/expression.hpp"
#include "tuner/spec/value.hpp"

namespace attune::spec {

/// An array in a file beside template.json, which tuning fills a buffer with or compares an output with: numpy's .npy, in the order of its
/// elements in memory, or any other file as raw elements. The template holds what is said here instead of the bytes.
struct DataFile {
  std::optional<ElementType> type;  ///< none: raw elements, or of a type that numpy only knows the size of (bfloat16)
  int element_bytes = 1;            ///< of a type that is known; raw: 1
  std::vector<std::int64_t> shape;  ///< in elements of `element_bytes`
  std::int64_t offset = 0;          ///< where they begin, in bytes
  std::int64_t bytes = 0;           ///< of all of them
  std::string digest;               ///< content key of the whole file
  bool operator==(const DataFile&) const = default;
};

/// Looks at the whole file. Throws: SpecError naming it (no array that can be read, with the remedy), EnvironmentError (unreadable).
[[nodiscard]] DataFile read_data_file(const std::filesystem::path& path);

/// One line that stands among a template's files for the file itself: in content hashes, databases and messages to workers.
[[nodiscard]] std::string to_text(const DataFile& file);
/// Throws: SpecError at `position` when it is no such line: `name` is a source, say.
[[nodiscard]] DataFile data_file_from_text(const std::string& text, const std::string& name, const SourcePosition& position);

/// Takes the elements of a file that was looked at before, piece by piece. `at`: how many bytes of them came before.
/// Throws: SpecError naming the path when it is another file now, which is known behind the last piece; EnvironmentError.
void read_elements(const std::filesystem::path& path, const DataFile& expected,
                   const std::function<void(std::size_t at, std::string_view piece)>& take);

/// "1000 elements of f32", "4000 bytes": what is in it.
[[nodiscard]] std::string described(const DataFile& file);

}  // namespace attune::spec
