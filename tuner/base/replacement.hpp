#pragma once
#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "tuner/base/file_descriptor.hpp"

namespace attune::base {

/// A new file that takes a name in one step: readers see the old or the new bytes, never a mixture. Until then it has no name, and
/// nothing of it is left when the process ends (O_TMPFILE). A hidden name that ends in ".new" is left by a process that is killed
/// between the two calls that put the whole file in an older one's place, or at any time where the file system knows no files
/// without a name, or no way to give them one.
class Replacement {
 public:
  /// Throws: EnvironmentError that names `told` and the errno; nothing is left then.
  Replacement(const std::filesystem::path& folder, const std::string& name, std::filesystem::path told);
  ~Replacement();
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  /// Mode, owner and group of a file that it will replace, as far as the user may give them; its group gets no rights that the
  /// old file's did not have.
  void look_like(const struct stat& old);
  void write(std::string_view bytes);
  /// Gives it the name, once it is on disk. What has the name and is no regular file, a link or a pipe, is refused.
  /// Throws: the old file is left as it was, no leftovers.
  void commit();

 private:
  void open_named();
  void copy_into_named();
  void check_name() const;
  [[nodiscard]] int link_as(const std::string& name) const;  ///< 0, or errno
  void move_to_name();
  [[noreturn]] void fail(const char* call, int error_number) const;

  FileDescriptor folder_;
  std::string name_;
  std::filesystem::path told_;
  FileDescriptor file_;
  std::string temporary_;  ///< its name in the folder; empty: none
  std::optional<struct stat> old_;
};

}  // namespace attune::base
