#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace attune::spec {

struct KernelTemplate;

/// A preprocessor directive that decides which text a compiler sees besides the file itself.
struct FileDirective {
  enum class Kind {
    Include,     ///< #include "name": a file of the template
    Own,         ///< #include <attune/name>: a header of attune's own; `text` is "<attune/name>", as `files` names it
    PragmaOnce,  ///< #pragma once
    Refused,     ///< reads what nobody can know beforehand; `text` says what
  } kind = Kind::Include;
  std::string text;
  std::size_t begin = 0;  ///< of the directive, in bytes
  std::size_t end = 0;    ///< of the line break that ends it
  int line = 0;           ///< of `begin`, counted from 1
  int next_line = 0;      ///< the line after `end`
};

/// The directives of a CUDA source in order. Comments, strings and continued lines are read as a compiler does;
/// conditions are not evaluated: an include behind `#if 0` is one. CUDA's headers (`#include <...>`) are not among them.
[[nodiscard]] std::vector<FileDirective> file_directives(std::string_view source);

/// The directives of a template's files, each file read once however often it is included.
class DirectivesByFile {
 public:
  /// Requires: `files` outlives it and stays as it is.
  explicit DirectivesByFile(const std::map<std::string, std::string>& files) : files_(files) {}
  /// Requires: the template has the file.
  [[nodiscard]] const std::vector<FileDirective>& of(const std::string& file);
  /// How much has been read to find them.
  [[nodiscard]] std::size_t read_bytes() const noexcept { return read_bytes_; }

 private:
  const std::map<std::string, std::string>& files_;
  std::map<std::string, std::vector<FileDirective>> known_;
  std::size_t read_bytes_ = 0;
};

/// The file that `#include "name"` in `includer` means: a path inside the template's folder, as `files` names it; empty
/// when it leads out of the folder.
[[nodiscard]] std::string included_file(const std::string& includer, const std::string& name);

/// Adds to `files` every file that those in it include, directly or not, as far as `read` has it; attune's own headers
/// that it lacks are those of this build. `read(name, bytes)` returns false for a file that is not there.
/// Throws: SpecError for more than spec_limits.hpp admits.
void add_included_files(std::map<std::string, std::string>& files, const std::function<bool(const std::string&, std::string&)>& read);

/// Every `#include "..."` and `#include <attune/...>` of the template's files names one of them, none includes itself,
/// and nothing else reads files, however a compiler reads strings and comments. Returns whether there is any. Takes time in
/// proportion to the files. Throws: SpecError with file and line.
[[nodiscard]] bool check_includes(const KernelTemplate& kernel);

/// The file with every such include replaced by what it names, behind `#line`, so that the result compiles alike
/// wherever it is compiled. Takes time in proportion to the files that `directives` has not read yet, and to the result.
/// Requires: check_includes passed; `directives` is of the template's files. Throws: SpecError when it includes more than
/// spec_limits.hpp admits.
[[nodiscard]] std::string with_includes(const KernelTemplate& kernel, const std::string& file, DirectivesByFile& directives);

/// `#line` takes a string literal: quotes and backslashes in a file name are escaped, the brackets around one of
/// attune's own headers are left out.
[[nodiscard]] std::string quoted_file(const std::string& file);

}  // namespace attune::spec
