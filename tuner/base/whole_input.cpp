#include "tuner/base/whole_input.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>

#include "attune/error.hpp"
#include "tuner/base/errno_text.hpp"
#include "tuner/base/new_file.hpp"

namespace attune::base {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kReadAtOnce = std::size_t{1} << 17;
/// A signal that comes just before poll() does not end it: then `on_wait` is called this much later.
constexpr int kLongestWaitMs = 100;

[[noreturn]] void fail(const fs::path& path, const std::string& why) {
  throw EnvironmentError(fmt::format("failed reading {}: {}", path.string(), why));
}

[[noreturn]] void refuse(const fs::path& path, const char* why) {
  throw UsageError(fmt::format("failed reading {}: {}", path.string(), why));
}

FileDescriptor open_input(const fs::path& path) {
  if (path == "-") {
    FileDescriptor input(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
    if (!input.open()) fail(path, errno_text("fcntl", errno) + " (is standard input closed?)");
    return input;
  }
  // O_NONBLOCK: the open of a pipe that nobody writes to yet would wait where no signal handler of ours ends it.
  FileDescriptor input(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (input.open()) return input;
  const int error = errno;
  if (error == ENOENT || error == ENOTDIR) refuse(path, "there is no such file");
  if (error == ENXIO) refuse(path, "it is a socket; name a file or a pipe");
  fail(path, errno_text("open", error));
}

/// Returns when something can be read, or the end was reached.
void wait_for_bytes(int input, const fs::path& path, const OnWait& on_wait) {
  for (;;) {
    if (on_wait) on_wait();
    pollfd wanted{input, POLLIN, 0};
    const int ready = ::poll(&wanted, 1, kLongestWaitMs);
    if (ready > 0) return;
    if (ready < 0 && errno != EINTR) fail(path, errno_text("poll", errno));
  }
}

class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& source) : source_(source) {
    std::error_code error;
    folder_ = fs::temp_directory_path(error);
    if (error) folder_ = "/tmp";
    std::string name = (folder_ / "attune-input-XXXXXX").string();
    file_ = FileDescriptor(::mkostemp(name.data(), O_CLOEXEC));
    if (!file_.open()) fail("mkostemp");
    ::unlink(name.c_str());
  }

  void write(std::string_view bytes) const {
    if (!write_all(file_.get(), bytes)) fail("write");
  }

  FileDescriptor from_its_begin() && {
    if (::lseek(file_.get(), 0, SEEK_SET) != 0) fail("lseek");
    return std::move(file_);
  }

 private:
  [[noreturn]] void fail(const char* call) const {
    const int error = errno;
    throw EnvironmentError(fmt::format("failed keeping what {} gives in the temporary folder {}: {}; name another folder with TMPDIR",
                                       source_.string(), folder_.string(), errno_text(call, error)));
  }
  const fs::path& source_;
  fs::path folder_;
  FileDescriptor file_;
};

WholeInput copy_to_its_end(int input, const fs::path& path, const OnWait& on_wait) {
  TemporaryFile copy(path);
  std::string chunk(kReadAtOnce, '\0');
  std::uint64_t bytes = 0;
  for (;;) {
    wait_for_bytes(input, path, on_wait);
    const ssize_t got = ::read(input, chunk.data(), chunk.size());
    if (got == 0) return {std::move(copy).from_its_begin(), bytes};
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) fail(path, errno_text("read", errno));
    copy.write({chunk.data(), static_cast<std::size_t>(got)});
    bytes += static_cast<std::uint64_t>(got);
  }
}

}  // namespace

WholeInput open_whole(const fs::path& path, const OnWait& on_wait) {
  FileDescriptor input = open_input(path);
  struct stat status {};
  if (::fstat(input.get(), &status) != 0) fail(path, errno_text("fstat", errno));
  if (S_ISDIR(status.st_mode)) refuse(path, "it is a folder; name a file");
  if (!S_ISREG(status.st_mode)) return copy_to_its_end(input.get(), path, on_wait);
  return {std::move(input), static_cast<std::uint64_t>(status.st_size)};
}

}  // namespace attune::base
