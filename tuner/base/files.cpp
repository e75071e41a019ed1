#include "tuner/base/files.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <random>
#include <utility>

#include "attune/error.hpp"
#include "tuner/base/errno_text.hpp"

namespace attune::base {
namespace {

namespace fs = std::filesystem;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { (void)close(); }
  [[nodiscard]] int get() const noexcept { return fd_; }
  /// 0, or -1 with errno. On Linux the descriptor is gone either way.
  [[nodiscard]] int close() noexcept {
    const int fd = std::exchange(fd_, -1);
    return fd < 0 ? 0 : ::close(fd);
  }

 private:
  int fd_;
};

/// Removes a file unless the work on it was completed.
class Leftover {
 public:
  explicit Leftover(fs::path path) : path_(std::move(path)) {}
  Leftover(const Leftover&) = delete;
  Leftover& operator=(const Leftover&) = delete;
  ~Leftover() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  void keep() noexcept { path_.clear(); }

 private:
  fs::path path_;
};

[[noreturn]] void fail(const char* verb, const fs::path& path, const char* call, int error_number) {
  throw Error(fmt::format("failed {} {}: {}", verb, path.string(), errno_text(call, error_number)));
}

/// A name in the same folder (rename does not cross file systems) that no other writer, in this process, in another
/// one or on another host of a shared file system, picks as well; O_EXCL decides in the last resort.
fs::path temporary_beside(const fs::path& path) {
  static std::atomic<unsigned> counter{std::random_device{}()};
  return path.parent_path() /
         fmt::format(".{}.{}-{:x}.new", path.filename().string(), ::getpid(), counter.fetch_add(1));
}

void write_all(int fd, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      fail("writing", path, "write", errno);
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void sync_folder(const fs::path& folder) {
  // Only makes the rename durable. Its failure (some network file systems know no fsync of a folder) is no failure of
  // the write: the new file is in place, and a crash leaves the old or the new one.
  const Descriptor fd(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() >= 0) (void)::fsync(fd.get());
}

/// An absolute path out of the environment: the XDG specification says to ignore relative ones.
fs::path absolute_variable(const char* variable) {
  const char* const value = std::getenv(variable);
  if (value == nullptr || value[0] != '/') return {};
  return value;
}

/// 0, or the errno of the last mkdir.
int make_private(const fs::path& folder) {
  fs::path partial;
  int error = 0;
  for (const fs::path& part : folder) {
    partial /= part;
    error = ::mkdir(partial.c_str(), 0700) == 0 ? 0 : errno;
  }
  std::error_code ignored;
  return fs::is_directory(folder, ignored) ? 0 : error;
}

fs::path xdg_folder(const char* variable, const char* below_home) {
  fs::path base = absolute_variable(variable);
  if (base.empty()) {
    const fs::path home = absolute_variable("HOME");
    if (home.empty()) return {};
    base = home / below_home;
  }
  const fs::path folder = base / "attune";
  (void)make_private(folder);  // a failure shows, with path and reason, where the folder is used
  return folder;
}

}  // namespace

std::string read_file(const fs::path& path) {
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) fail("reading", path, "open", errno);
  std::string bytes;
  struct stat status {};
  if (::fstat(fd.get(), &status) == 0 && status.st_size > 0) bytes.reserve(static_cast<std::size_t>(status.st_size));
  char chunk[65536];
  for (;;) {
    const ssize_t got = ::read(fd.get(), chunk, sizeof(chunk));
    if (got == 0) return bytes;
    if (got > 0) {
      bytes.append(chunk, static_cast<std::size_t>(got));
    } else if (errno != EINTR) {
      fail("reading", path, "read", errno);
    }
  }
}

void write_file_atomic(const fs::path& path, std::string_view bytes, Durability durability) {
  const fs::path temporary = temporary_beside(path);
  Descriptor fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (fd.get() < 0) fail("writing", path, "open", errno);
  Leftover leftover(temporary);
  write_all(fd.get(), bytes, path);
  if (durability == Durability::Durable && ::fsync(fd.get()) != 0) fail("writing", path, "fsync", errno);
  if (fd.close() != 0) fail("writing", path, "close", errno);
  if (::rename(temporary.c_str(), path.c_str()) != 0) fail("writing", path, "rename", errno);
  leftover.keep();
  if (durability == Durability::Durable) sync_folder(path.parent_path());
}

void create_private_folder(const fs::path& folder) {
  if (const int error = make_private(folder)) fail("creating folder", folder, "mkdir", error);
}

fs::path data_folder() { return xdg_folder("XDG_DATA_HOME", ".local/share"); }

fs::path cache_folder() { return xdg_folder("XDG_CACHE_HOME", ".cache"); }

fs::path own_executable() {
  std::error_code error;
  const fs::path path = fs::read_symlink("/proc/self/exe", error);
  if (error) {
    throw EnvironmentError(fmt::format("failed finding the running executable: {}; is /proc mounted?",
                                       errno_text("readlink(/proc/self/exe)", error.value())));
  }
  return path;
}

}  // namespace attune::base
