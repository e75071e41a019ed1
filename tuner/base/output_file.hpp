#pragma once
#include <filesystem>
#include <memory>
#include <string_view>

#include "tuner/base/whole_input.hpp"

namespace attune::base {

/// What a user asked to have written under a name; every output of a command goes through here. What the name leads to, through
/// symbolic links, decides how:
/// - A regular file, or nothing: a new file without a name beside it takes its place, whole and on disk, when `commit` is called;
///   without that call nothing changes and nothing is left, also when the process is killed. One that is killed in the instant in
///   which it replaces an older file may leave the new one, whole, under a hidden name that ends in ".new", and on a file system
///   without O_TMPFILE at any time. Links stay links. The mode stays, and owner and group as far as the user may give them; other
///   hard links to the file keep the old contents, access lists are not carried over.
/// - A pipe, a terminal, /dev/null or another character device: it is written to as the bytes come, and stays what it is.
///   A pipe that nobody reads is waited for.
/// - One of the descriptors that this program was given ("-", /dev/stdout, /dev/fd/N, /proc/self/fd/N): that descriptor as it
///   is, at its place in a file.
/// A folder, a socket or a disk is refused, and so is a file that the user may not write to.
class OutputFile {
 public:
  /// `on_wait` is called again and again while a pipe takes nothing; an exception ends the waiting.
  /// Throws: UsageError (a folder, a socket, a disk, no descriptor of this program's), EnvironmentError naming path and errno, what
  /// `on_wait` throws.
  explicit OutputFile(const std::filesystem::path& path, const OnWait& on_wait = {});
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Throws: EnvironmentError (full disk, closed pipe); what `on_wait` throws.
  void write(std::string_view bytes);
  void commit();

 private:
  class Target;
  class Stream;
  class Replacing;
  std::unique_ptr<Target> target_;
};

/// The whole of an output at once. Throws: as OutputFile.
void write_output(const std::filesystem::path& path, std::string_view bytes, const OnWait& on_wait = {});

/// Before long work: throws what OutputFile would throw now, as far as that shows without opening anything.
void check_output(const std::filesystem::path& path);

/// Where the name of an output leads: its folder's real path and its name there, links followed to their end, even where nothing
/// is at the end. Empty for a descriptor. Throws: as OutputFile.
[[nodiscard]] std::filesystem::path output_place(const std::filesystem::path& path);

/// Whether what is written under this name comes out where standard output does: what else is said belongs elsewhere then.
[[nodiscard]] bool is_standard_output(const std::filesystem::path& path);

}  // namespace attune::base
