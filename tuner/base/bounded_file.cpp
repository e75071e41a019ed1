#include "tuner/base/bounded_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "attune/error.hpp"
#include "tuner/base/errno_text.hpp"
#include "tuner/base/file_descriptor.hpp"

namespace attune::base {
namespace {

[[noreturn]] void fail_opening(const std::filesystem::path& path, const std::string& why) {
  throw UsageError(fmt::format("failed opening {}: {}", path.string(), why));
}

}  // namespace

std::string read_bounded_file(const std::filesystem::path& path, std::uint64_t most_bytes) {
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!fd.open()) fail_opening(path, errno == ENOENT ? "there is no such file" : errno_text("open", errno));
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) fail_opening(path, errno_text("fstat", errno));
  if (!S_ISREG(status.st_mode)) fail_opening(path, "it is no regular file");
  std::string bytes;
  bytes.reserve(static_cast<std::size_t>(status.st_size) <= most_bytes ? static_cast<std::size_t>(status.st_size) : 0);
  char chunk[65536];
  for (ssize_t got = 1; got != 0;) {
    if (bytes.size() > most_bytes || static_cast<std::uint64_t>(status.st_size) > most_bytes) {
      throw Error(fmt::format("failed reading {}: it has more than {} MiB", path.string(), most_bytes >> 20), ExitCode::Spec);
    }
    got = ::read(fd.get(), chunk, sizeof chunk);
    if (got < 0 && errno != EINTR) fail_opening(path, errno_text("read", errno));
    if (got > 0) bytes.append(chunk, static_cast<std::size_t>(got));
  }
  return bytes;
}

}  // namespace attune::base
