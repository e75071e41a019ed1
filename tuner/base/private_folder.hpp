#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/base/file_descriptor.hpp"
#include "tuner/base/private_path.hpp"

namespace attune::base {

/// What a private folder gave for a name.
struct PrivateFile {
  FileDescriptor fd;    ///< of the very file that was judged; not open when it is refused or not there
  std::string refusal;  ///< why it is not used, with path and remedy; empty when it is open, or not there
  /// The whole of it; nothing when it is not open, or cannot be read.
  [[nodiscard]] std::optional<std::string> read() const;
};

/// A folder in which nobody but this user and root can write, nor anybody else decided that we came here; held by a descriptor.
/// Everything in it is opened, made and removed by one name below that descriptor, and no link is followed: what code is loaded
/// from, and where it is kept, goes through here. Nothing of a folder that is not open is ever read.
class PrivateFolder {
 public:
  struct Entry {
    std::string name;
    std::uint64_t bytes = 0;
    timespec modified{};
    bool is_folder = false;
  };

  /// Walks from "/" (walk_privately). `Create`: with what is missing on the way, mode 0700. Belongs to the user or root.
  [[nodiscard]] static PrivateFolder open(const std::filesystem::path& path, IfMissing if_missing);
  [[nodiscard]] PrivateFolder subfolder(const std::string& name, IfMissing if_missing) const;

  [[nodiscard]] bool is_open() const noexcept { return fd_.open(); }
  [[nodiscard]] bool is_writable() const;
  /// Why it is not used, with path and remedy; empty when it is open, or only missing (`missing` tells why then).
  [[nodiscard]] const std::string& refusal() const noexcept { return refusal_; }
  [[nodiscard]] const std::string& missing() const noexcept { return missing_; }
  /// Without links.
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

  /// For reading: a regular file of the user's or root's alone that has no second name and at most so many bytes.
  [[nodiscard]] PrivateFile open_file(const std::string& name, std::uint64_t most_bytes) const;
  /// For locks on its bytes: a regular file that is the user's, made where there is none (mode 0600); its bytes mean nothing. Not open
  /// where it cannot be.
  [[nodiscard]] FileDescriptor open_for_locks(const std::string& name) const;
  /// Puts a new file of mode 0600 in the place of the name, in one step. Throws: Error naming the path and errno text.
  void write(const std::string& name, std::string_view bytes) const;
  /// Leaves a file to its owner alone (mode 0600), where that is allowed: one that somebody else's code has just made here, with the
  /// rights that the umask of this process gives to others.
  void close_to_others(const std::string& name) const noexcept;
  /// Sets a file's times to now, where that is allowed.
  void touch(const std::string& name) const noexcept;
  /// False when there is no such file, or it may not be removed.
  bool remove(const std::string& name) const noexcept;
  /// Regular files and folders; nothing of a folder that cannot be listed.
  [[nodiscard]] std::vector<Entry> entries() const;

 private:
  FileDescriptor fd_;
  std::filesystem::path path_;
  std::string refusal_;
  std::string missing_;
};

}  // namespace attune::base
