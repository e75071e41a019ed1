#include "tuner/base/output_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <optional>
#include <string>
#include <system_error>
#include <thread>

#include "attune/error.hpp"
#include "tuner/base/errno_text.hpp"
#include "tuner/base/replacement.hpp"
#include "tuner/base/standard_descriptors.hpp"

namespace attune::base {
namespace {

namespace fs = std::filesystem;

constexpr int kMostOutputLinks = 40;  // as the kernel
constexpr std::chrono::milliseconds kWaitSlice{100};
/// What a pipe takes at once when it takes anything: a larger write could wait where no signal handler of ours ends it.
constexpr std::size_t kPipeBytes = PIPE_BUF;

std::string told(const fs::path& path) { return path == "-" ? "standard output" : path.string(); }

[[noreturn]] void fail_output(const fs::path& path, const char* call, int error) {
  throw EnvironmentError(fmt::format("failed writing {}: {}{}", told(path), errno_text(call, error), errno_remedy(error)));
}

[[noreturn]] void refuse_output(const fs::path& path, const std::string& why) {
  throw UsageError(fmt::format("failed writing {}: {}", told(path), why));
}

[[noreturn]] void fail_folder(const fs::path& path, const fs::path& folder, int error) {
  const std::string remedy = error == ENOENT ? fmt::format("; there is no folder {}: make it first", folder.string()) : errno_remedy(error);
  throw EnvironmentError(fmt::format("failed writing {}: {}{}", told(path), errno_text("open", error), remedy));
}

/// Where a name leads.
struct Place {
  int descriptor = -1;  ///< of this process; else
  fs::path folder;      ///< its real path, and
  std::string name;     ///< what is no link in it, or is not there
};

std::optional<int> number_in(const std::string& text) {
  if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  return std::stoi(text);
}

/// /proc/PID/fd or /proc/PID/task/TID/fd of this process, as a real path.
bool holds_own_descriptors(const fs::path& folder) {
  const std::string own = fmt::format("/proc/{}/", ::getpid()), text = folder.string();
  return text == own + "fd" || (text.starts_with(own + "task/") && text.ends_with("/fd"));
}

Place place_of(const fs::path& path) {
  if (path.empty()) refuse_output(path, "a file without a name; name a file");
  if (path == "-") return {STDOUT_FILENO, {}, {}};
  fs::path at = path;
  for (int links = 0; links <= kMostOutputLinks; ++links) {
    std::error_code error;
    Place place;
    place.folder = fs::canonical(at.has_parent_path() ? at.parent_path() : fs::path("."), error);
    if (error) fail_folder(path, at.parent_path(), error.value());
    place.name = at.filename().string();
    if (place.name.empty() || place.name == "." || place.name == "..") refuse_output(path, "it is a folder; name a file");
    if (const auto number = number_in(place.name); number && holds_own_descriptors(place.folder)) return {*number, {}, {}};
    const fs::path target = fs::read_symlink(place.folder / place.name, error);
    if (error) return place;
    at = target.is_absolute() ? target : place.folder / target;
  }
  fail_output(path, "open", ELOOP);
}

/// How an output is written, found without opening anything.
struct Way {
  Place place;
  bool in_place = false;             ///< a pipe or a device, under the name that was given
  std::optional<struct stat> there;  ///< the file that is replaced
};

/// Inherited descriptors lose close-on-exec, all that attune opens has it: a database of ours is no output.
void check_descriptor(const fs::path& path, int descriptor) {
  const int flags = ::fcntl(descriptor, F_GETFD);
  const bool given = descriptor <= STDERR_FILENO || (flags >= 0 && (flags & FD_CLOEXEC) == 0);
  if (flags < 0 || !given) refuse_output(path, fmt::format("descriptor {} was not given to this program", descriptor));
  if ((::fcntl(descriptor, F_GETFL) & O_ACCMODE) != O_RDONLY) return;
  throw EnvironmentError(fmt::format("failed writing {}: descriptor {} is closed, or open for reading only", told(path), descriptor));
}

void check_replaced(const fs::path& path, Way& way, const struct stat& meant) {
  const fs::path name = way.place.folder / way.place.name;
  struct stat there {};
  if (::lstat(name.c_str(), &there) != 0) fail_output(path, "lstat", errno);
  // A link of /proc leads to a file whatever its text says.
  if (there.st_dev != meant.st_dev || there.st_ino != meant.st_ino)
    refuse_output(path, "the file that it leads to has no name; name another one");
  // Renaming over it would need no right to write to it; the user who took that right away meant it.
  if (::faccessat(AT_FDCWD, name.c_str(), W_OK, AT_EACCESS) != 0) fail_output(path, "access", errno);
  way.there = there;
}

Way way_to(const fs::path& path) {
  Way way;
  way.place = place_of(path);
  if (way.place.descriptor >= 0) {
    check_descriptor(path, way.place.descriptor);
    return way;
  }
  // The kernel follows the links here, with whatever protection it has against other users' links.
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) fail_output(path, "stat", errno);
    return way;
  }
  if (S_ISDIR(status.st_mode)) refuse_output(path, "it is a folder; name a file");
  if (S_ISSOCK(status.st_mode)) refuse_output(path, "it is a socket; name a file or a pipe");
  if (S_ISBLK(status.st_mode)) refuse_output(path, "it is a disk, which would lose what it holds; name a file");
  if (S_ISREG(status.st_mode))
    check_replaced(path, way, status);
  else
    way.in_place = true;
  return way;
}

}  // namespace

class OutputFile::Target {
 public:
  Target() = default;
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;
  virtual ~Target() = default;
  virtual void write(std::string_view bytes) = 0;
  virtual void commit() = 0;
};

/// A pipe, a device, or a descriptor that was given.
class OutputFile::Stream final : public OutputFile::Target {
 public:
  Stream(const fs::path& path, int descriptor, const OnWait& on_wait) : path_(path), on_wait_(on_wait) {
    file_ = FileDescriptor(descriptor >= 0 ? ::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : open());
    if (!file_.open()) fail_output(path_, "fcntl", errno);
    struct stat status {};
    if (::fstat(file_.get(), &status) != 0) fail_output(path_, "fstat", errno);
    at_once_ = S_ISREG(status.st_mode) ? SSIZE_MAX : kPipeBytes;
    // It was a pipe a moment ago: a file is not written over from its begin.
    if (descriptor < 0 && S_ISREG(status.st_mode)) refuse_output(path_, "it has just become a file; run the command again");
  }

  void write(std::string_view bytes) override {
    while (!bytes.empty()) {
      wait();
      const ssize_t written = ::write(file_.get(), bytes.data(), std::min(bytes.size(), at_once_));
      if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (written < 0) fail_output(path_, "write", errno);
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  void commit() override {
    // A network file system may tell only now that its disk is full.
    if (::close(file_.release()) != 0 && errno != EINTR) fail_output(path_, "close", errno);
  }

 private:
  /// Does not wait inside of the open, which a signal handler of ours would not end.
  int open() {
    for (;;) {
      const int file = above_standard_descriptors(::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
      if (file >= 0) return file;
      if (errno != ENXIO && errno != EINTR) fail_output(path_, "open", errno);
      if (errno == ENXIO && !is_pipe()) fail_output(path_, "open", ENXIO);
      if (on_wait_) on_wait_();
      std::this_thread::sleep_for(kWaitSlice);  // for a reader
    }
  }

  [[nodiscard]] bool is_pipe() const {
    struct stat status {};
    return ::stat(path_.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
  }

  void wait() {
    for (;;) {
      if (on_wait_) on_wait_();
      pollfd wanted{file_.get(), POLLOUT, 0};
      const int ready = ::poll(&wanted, 1, static_cast<int>(kWaitSlice.count()));
      if (ready > 0) return;
      if (ready < 0 && errno != EINTR) fail_output(path_, "poll", errno);
    }
  }

  fs::path path_;
  OnWait on_wait_;
  FileDescriptor file_;
  std::size_t at_once_ = kPipeBytes;
};

class OutputFile::Replacing final : public OutputFile::Target {
 public:
  Replacing(const fs::path& path, const Way& way) : file_(way.place.folder, way.place.name, path) {
    if (way.there) file_.look_like(*way.there);
  }
  void write(std::string_view bytes) override { file_.write(bytes); }
  void commit() override { file_.commit(); }

 private:
  Replacement file_;
};

OutputFile::OutputFile(const fs::path& path, const OnWait& on_wait) {
  const Way way = way_to(path);
  const bool streamed = way.in_place || way.place.descriptor >= 0;
  if (streamed)
    target_ = std::make_unique<Stream>(path, way.place.descriptor, on_wait);
  else
    target_ = std::make_unique<Replacing>(path, way);
}

OutputFile::~OutputFile() = default;

void OutputFile::write(std::string_view bytes) { target_->write(bytes); }
void OutputFile::commit() { target_->commit(); }

void write_output(const fs::path& path, std::string_view bytes, const OnWait& on_wait) {
  OutputFile file(path, on_wait);
  file.write(bytes);
  file.commit();
}

void check_output(const fs::path& path) {
  const Way way = way_to(path);
  if (way.place.descriptor >= 0) return;
  const fs::path needed = way.in_place ? path : way.place.folder;
  if (::faccessat(AT_FDCWD, needed.c_str(), way.in_place ? W_OK : W_OK | X_OK, AT_EACCESS) != 0) fail_output(path, "access", errno);
}

fs::path output_place(const fs::path& path) {
  const Place place = place_of(path);
  return place.descriptor >= 0 ? fs::path() : place.folder / place.name;
}

bool is_standard_output(const fs::path& path) {
  if (path == "-") return true;
  struct stat named {
  }, standard{};
  return ::stat(path.c_str(), &named) == 0 && ::fstat(STDOUT_FILENO, &standard) == 0 && named.st_dev == standard.st_dev &&
         named.st_ino == standard.st_ino;
}

}  // namespace attune::base
